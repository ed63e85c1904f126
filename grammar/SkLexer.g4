// The tokens of .sk, byte by byte (bytes from 0x80 on are letters of no word). compiler/parse/tokens.cpp turns these raw
// tokens into what SkParser reads:
//   SEP        a run of newlines and `;` that ends a statement. A newline is none inside () and [], after an operator, `,`,
//              `=`, `then` or `else`, before `else`, and beside the brackets of a block
//   SK_OPEN    `<` of a super-kernel block: the first one outside brackets in the line that `superkernel` begins
//   SK_CLOSE   `>` of it: before a newline, `;`, `}`, another closing `>` or the end of the file
// and classify.cpp, within one statement or declaration:
//   IDENT      also the words that mean something only elsewhere: `max(a, b)`, `x.decode(y)`, `stream = 1`
//   STMT_IF    `if` of a statement; IF is the expression
//   ARG_NAME   a name before `=` in a call or option list
//   OPT_OPEN   `(` of an option list after `superkernel`, `stream`, `cores`
//   LAST_COMMA a comma before a closing bracket
//   BAD        what was reported already
lexer grammar SkLexer;

tokens { SEP, SK_OPEN, SK_CLOSE, STMT_IF, ARG_NAME, OPT_OPEN, LAST_COMMA, BAD }

ARROW: '->';
RANGE: '..';
DOT: '.';
COMMA: ',';
COLON: ':';
SEMI: ';';
LPAREN: '(';
RPAREN: ')';
LBRACKET: '[';
RBRACKET: ']';
LBRACE: '{';
RBRACE: '}';
POW: '**';
STAR: '*';
SLASH: '/';
PERCENT: '%';
PLUS: '+';
MINUS: '-';
EQ: '==';
NE: '!=';
LE: '<=';
GE: '>=';
LT: '<';
GT: '>';
ASSIGN: '=';

BYTES: DIGITS ('.' DIGITS)? ('KiB' | 'MiB' | 'GiB' | 'B');
FLOAT: DIGITS '.' DIGITS EXPONENT? | DIGITS EXPONENT;
INT: DIGITS | '0x' [0-9a-fA-F_]+;
fragment DIGITS: [0-9] [0-9_]*;
fragment EXPONENT: [eE] [+-]? [0-9]+;

STRING: '"' (~["\\\r\n] | '\\' ~[\r\n])* '"';
UNCLOSED_STRING: '"' (~["\\\r\n] | '\\' ~[\r\n])*;
IDENT: [a-zA-Z_] [a-zA-Z0-9_]*;

PRAGMA: '#!' ~[\r\n]*;
COMMENT: '//' ~[\r\n]*;
NEWLINE: '\r'? '\n';
SPACE: [ \t\r\f]+;
UNKNOWN: .;

// Words, which come out of the rules above as IDENT: compiler/parse/tokens.cpp looks them up by these spellings. Beside
// IDENT every letter of fifty words would be a state of its own, and making states is what a short run spends its time on.
mode WORDS;
IMPORT: 'import';
CONFIG: 'config';
REQUIRE: 'require';
FN: 'fn';
LAYER: 'layer';
MODEL: 'model';
DRAFT: 'draft';
WEIGHT: 'weight';
CONST: 'const';
STATE: 'state';
UNINITIALIZED: 'uninitialized';
PREFILL: 'prefill';
DECODE: 'decode';
FORWARD: 'forward';
DEFAULT_WEIGHTS: 'default_weights';
UNUSED: 'unused';
EXTERN: 'extern';
OP: 'op';
REPLACE: 'replace';
BY: 'by';
FROM: 'from';
WHEN: 'when';
LET: 'let';
RETURN: 'return';
FOR: 'for';
IN: 'in';
IF: 'if';
THEN: 'then';
ELSE: 'else';
WHILE: 'while';
SUPERKERNEL: 'superkernel';
NONE: 'none';
SCOPE_BEGIN: 'scope_begin';
SCOPE_END: 'scope_end';
STREAM: 'stream';
CORES: 'cores';
PREFETCH: 'prefetch';
AFTER: 'after';
MAX: 'max';
EVENT: 'event';
RECORD: 'record';
WAIT: 'wait';
GEARS: 'gears';
DUMP: 'dump';
TAP: 'tap';
AND: 'and';
OR: 'or';
NOT: 'not';
TRUE: 'true';
FALSE: 'false';
