// The tokens of .sk. Newlines are tokens; compiler/parse drops those inside () and [] and tells the brackets of a
// super-kernel block (SK_OPEN, SK_CLOSE) from comparisons before the parser sees the stream.
lexer grammar SkLexer;

tokens { SK_OPEN, SK_CLOSE }

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

PRAGMA: '#!' ~[\r\n]* -> channel(HIDDEN);
COMMENT: '//' ~[\r\n]* -> channel(HIDDEN);
NEWLINE: '\r'? '\n';
SPACE: [ \t\r\f]+ -> skip;
UNKNOWN: .;
