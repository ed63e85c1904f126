// The grammar of .sk over the filtered token stream (see SkLexer.g4). compiler/parse calls `item`, `member` and
// `configItem` one by one, so an error stays inside its declaration.
parser grammar SkParser;
options { tokenVocab = SkLexer; }

sep: (NEWLINE | SEMI)+;
nl: NEWLINE*;

// ---- top level
item: importDecl | configDecl | fnDecl | layerDecl | modelDecl | draftDecl | externDecl | replaceDecl | statement;

importDecl: IMPORT STRING;
configDecl: CONFIG LBRACE sep? (configItem (sep configItem)* sep?)? RBRACE;
configItem: REQUIRE expr (COMMA nl expr)? # requireItem
  | name LBRACE sep? (configEntry (sep configEntry)* sep?)? RBRACE # configGroup
  | configEntry # entryItem;
configEntry: name COLON type (ASSIGN nl expr)?;

fnDecl: FN name params resultType? block;
params: LPAREN (param (COMMA param)* COMMA?)? RPAREN;
param: name COLON type (ASSIGN expr)?;
resultType: ARROW type;

layerDecl: LAYER name params memberBlock;
modelDecl: MODEL name memberBlock;
draftDecl: DRAFT name memberBlock;
memberBlock: LBRACE sep? (member (sep member)* sep?)? RBRACE;
member: weightDecl | constDecl | stateDecl | letStmt | phaseDecl | fnDecl | defaultWeights | unusedDecl | instanceDecl;
weightDecl: WEIGHT name COLON type from? when?;
from: FROM expr forClause*;
forClause: FOR name IN rangeExpr;
when: WHEN expr;
constDecl: CONST constName (COMMA constName)* ASSIGN nl expr;
constName: name (COLON type)?;
stateDecl: STATE name COLON type UNINITIALIZED?;
phaseDecl: phaseName params resultType? block;
phaseName: PREFILL | DECODE | FORWARD;
defaultWeights: DEFAULT_WEIGHTS STRING;
unusedDecl: UNUSED STRING;
instanceDecl: name ASSIGN nl expr from?;
externDecl: EXTERN OP name params resultType?;
replaceDecl: REPLACE name params block nl BY block;

// ---- types
type: LPAREN type (COMMA type)+ RPAREN # tupleType
  | name? LBRACKET (expr (COMMA expr)*)? RBRACKET # tensorType
  | name # namedType;

// ---- statements
block: LBRACE sep? (statement (sep statement)* sep?)? RBRACE;
statement: letStmt | returnStmt | forStmt | ifStmt | whileStmt | superkernelStmt | scopeStmt | streamStmt | coresStmt | prefetchStmt | eventStmt
  | gearsStmt | dumpStmt | assignStmt | exprStmt;
letStmt: LET binding (COMMA nl binding)*;
binding: name ASSIGN nl expr;
returnStmt: RETURN exprList?;
forStmt: FOR name IN rangeExpr block;
ifStmt: IF expr block (nl ELSE ifTail)?;
ifTail: ifStmt | block;
whileStmt: WHILE expr block;
superkernelStmt: SUPERKERNEL (NONE | expr) optionList? when? SK_OPEN sep? (statement (sep statement)* sep?)? SK_CLOSE;
scopeStmt: (SCOPE_BEGIN | SCOPE_END) expr;
streamStmt: STREAM expr optionList? when? block;
coresStmt: CORES optionList when? block;
optionList: LPAREN (option (COMMA option)* COMMA?)? RPAREN;
option: optionName ASSIGN expr;
optionName: name (MINUS name)*;
prefetchStmt: PREFETCH postfix AFTER postfix (MAX expr)? when?;
eventStmt: EVENT name | RECORD name | WAIT name;
gearsStmt: GEARS primary;
dumpStmt: (DUMP | TAP) expr;
assignStmt: targets ASSIGN nl exprList;
targets: postfix (COMMA postfix)*;
exprStmt: expr;
exprList: expr (COMMA nl expr)*;

// ---- expressions: flat chains, so that depth comes from brackets alone
rangeExpr: expr (RANGE expr)?;
expr: IF expr THEN nl expr ELSE nl expr | orExpr;
orExpr: andExpr (OR nl andExpr)*;
andExpr: notExpr (AND nl notExpr)*;
notExpr: NOT* comparison;
comparison: sum ((EQ | NE | LT | LE | GT | GE) nl sum)*;
sum: product ((PLUS | MINUS) nl product)*;
product: power ((STAR | SLASH | PERCENT) nl power)*;
power: negated (POW negated)*;
negated: MINUS* postfix;
postfix: primary suffix*;
suffix: DOT anyName # memberSuffix
  | LPAREN (argument (COMMA argument)* COMMA?)? RPAREN # callSuffix
  | LBRACKET indexItem (COMMA indexItem)* RBRACKET # indexSuffix;
argument: (name ASSIGN)? expr;
indexItem: COLON | expr? RANGE expr? | expr;
primary: name | INT | FLOAT | BYTES | STRING | TRUE | FALSE
  | LPAREN expr RPAREN
  | LBRACKET RBRACKET
  | LBRACKET expr FOR name IN rangeExpr RBRACKET
  | LBRACKET expr (COMMA expr)* COMMA? RBRACKET;

// Words that mean something only where the grammar expects them stay usable as names; any word may follow a dot.
name: IDENT | OP | BY | FROM | MAX | AFTER | EVENT | RECORD | WAIT | GEARS | DUMP | TAP | NONE | UNINITIALIZED | UNUSED | DRAFT | MODEL | STREAM
  | CORES | PREFETCH | CONFIG | DEFAULT_WEIGHTS | REPLACE;
anyName: name | IMPORT | REQUIRE | FN | LAYER | WEIGHT | CONST | STATE | PREFILL | DECODE | FORWARD | EXTERN | WHEN | LET | RETURN | FOR | IN | IF
  | THEN | ELSE | WHILE | SUPERKERNEL | SCOPE_BEGIN | SCOPE_END | AND | OR | NOT | TRUE | FALSE;
