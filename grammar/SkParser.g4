// The grammar of .sk over the token stream that SkLexer.g4 describes.
//
// Every decision takes one token of look-ahead. compiler/parse calls the …Unit rules for one statement or declaration at
// a time and shows it the blocks inside as empty, since it parses their content the same way: an error stays in its
// statement, and memory and stack do not grow with the file. What the rules leave open (which expressions can be
// assigned to, precedence, chained comparisons) is settled by compiler/parse/build*.cpp.
parser grammar SkParser;
options { tokenVocab = SkLexer; }

file: (item (SEP item)*)? EOF;
itemUnit: item EOF;
memberUnit: member EOF;
configUnit: configItem EOF;
statementUnit: statement EOF;
exprUnit: expr EOF;

// ---- top level
item: importDecl | configDecl | fnDecl | layerDecl | modelDecl | draftDecl | externDecl | replaceDecl | statement;

importDecl: IMPORT path=STRING;
configDecl: CONFIG open=LBRACE (configItem (SEP configItem)*)? close=RBRACE;
configItem: REQUIRE condition=expr (COMMA message=expr)?
  | label=IDENT (open=LBRACE (configItem (SEP configItem)*)? close=RBRACE | COLON valueType=type (ASSIGN value=expr)?);

fnDecl: FN label=IDENT head=params result=resultType? body=block;
params: open=LPAREN (entries+=param (COMMA entries+=param)* LAST_COMMA?)? close=RPAREN;
param: label=IDENT COLON valueType=type (ASSIGN value=expr)?;
resultType: ARROW valueType=type;

layerDecl: LAYER label=IDENT head=params open=LBRACE (member (SEP member)*)? close=RBRACE;
modelDecl: MODEL label=IDENT open=LBRACE (member (SEP member)*)? close=RBRACE;
draftDecl: DRAFT label=IDENT open=LBRACE (member (SEP member)*)? close=RBRACE;
member: weightDecl | constDecl | stateDecl | letStmt | phaseDecl | fnDecl | defaultWeights | unusedDecl | instanceDecl;
weightDecl: WEIGHT label=IDENT COLON valueType=type source=from? guard=when?;
from: FROM value=expr loops+=forClause*;
forClause: FOR label=IDENT IN iterable=rangeExpr;
when: WHEN value=expr;
constDecl: CONST names+=constName (COMMA names+=constName)* ASSIGN value=expr;
constName: label=IDENT (COLON valueType=type)?;
stateDecl: STATE label=IDENT COLON valueType=type raw=UNINITIALIZED?;
phaseDecl: phase=(PREFILL | DECODE | FORWARD) head=params result=resultType? body=block;
defaultWeights: DEFAULT_WEIGHTS path=STRING;
unusedDecl: UNUSED path=STRING;
instanceDecl: label=IDENT ASSIGN value=expr source=from? guard=when?;
externDecl: EXTERN OP label=IDENT head=params result=resultType?;
replaceDecl: REPLACE label=IDENT head=params pattern=block BY replacement=block;

// ---- types
type: LPAREN parts+=type (COMMA parts+=type)+ RPAREN
  | label=IDENT shape=dims?
  | shape=dims;
dims: LBRACKET (values+=expr (COMMA values+=expr)*)? RBRACKET;

// ---- statements
block: open=LBRACE (statement (SEP statement)*)? close=RBRACE;
statement: letStmt | returnStmt | forStmt | ifStmt | whileStmt | superkernelStmt | scopeStmt | streamStmt | coresStmt | prefetchStmt
  | eventStmt | gearsStmt | dumpStmt | valueStmt;
letStmt: LET bindings+=binding (COMMA bindings+=binding)*;
binding: label=IDENT ASSIGN value=expr;
returnStmt: RETURN value=exprList?;
forStmt: FOR label=IDENT IN iterable=rangeExpr body=block;
ifStmt: ifs+=STMT_IF conditions+=expr bodies+=block (branches+=ELSE (ifs+=STMT_IF conditions+=expr)? bodies+=block)*;
whileStmt: WHILE condition=expr body=block;
superkernelStmt: SUPERKERNEL (none=NONE | label=expr) opts=optionList? guard=when? open=SK_OPEN (statement (SEP statement)*)? close=SK_CLOSE;
scopeStmt: edge=(SCOPE_BEGIN | SCOPE_END) label=expr;
streamStmt: STREAM label=expr opts=optionList? guard=when? body=block;
coresStmt: CORES opts=optionList guard=when? body=block;
optionList: open=OPT_OPEN (entries+=option (COMMA entries+=option)* LAST_COMMA?)? close=RPAREN;
option: (parts+=ARG_NAME | parts+=IDENT (MINUS parts+=IDENT)*) ASSIGN value=expr;
prefetchStmt: PREFETCH target=term AFTER trigger=term (MAX limit=expr)? guard=when?;
eventStmt: verb=(EVENT | RECORD | WAIT) label=IDENT;
gearsStmt: GEARS value=term;
dumpStmt: verb=(DUMP | TAP) value=expr;
valueStmt: left=exprList (ASSIGN right=exprList)?;
exprList: values+=expr (COMMA values+=expr)*;

// ---- expressions: flat chains, so that depth comes from brackets alone
rangeExpr: begin=expr (RANGE end=expr)?;
expr: branches+=branch* first=term rest+=tail*;
branch: head=IF condition=expr THEN value=expr ELSE;
tail: op=(OR | AND | EQ | NE | LT | LE | GT | GE | PLUS | MINUS | STAR | SLASH | PERCENT | POW) value=term;
term: prefixes+=(MINUS | NOT)* (atom=(IDENT | INT | FLOAT | BYTES | STRING | TRUE | FALSE) | group=bracketed) suffixes+=suffix*;
bracketed: open=LPAREN inner=expr close=RPAREN
  | open=LBRACKET (first=expr (FOR label=IDENT IN iterable=rangeExpr | (COMMA rest+=expr)* LAST_COMMA?))? close=RBRACKET;
suffix: DOT label=IDENT
  | open=LPAREN (arguments+=argument (COMMA arguments+=argument)* LAST_COMMA?)? close=RPAREN
  | open=LBRACKET items+=indexItem (COMMA items+=indexItem)* close=RBRACKET;
argument: (label=ARG_NAME ASSIGN)? value=expr;
indexItem: all=COLON | open=RANGE end=expr? | begin=expr (open=RANGE end=expr?)?;
