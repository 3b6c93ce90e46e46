; Where several patterns match, the last one counts.

; Names

(expression/identifier) @variable

(application
  function: (identifier) @function.call)

; Parameters, and the names that `let`, `case`, `foreach` and `up` bind.

(pattern/identifier) @variable.parameter

(lambda
  parameters: (identifier) @variable.parameter)

(declaration
  name: (identifier) @variable.parameter)

(binding
  pattern: (identifier) @variable)

(binding
  pattern: (tuple_pattern
    (identifier) @variable))

(arm
  payload: (identifier) @variable)

(arm
  payload: (tuple_pattern
    (identifier) @variable))

(links
  (identifier) @function)

(wildcard) @variable.builtin

; Definitions

(binding
  pattern: (identifier) @function
  value: [
    (lambda)
    (mu)
  ])

(definition
  name: (identifier) @function)

(foreign_declaration
  name: (identifier) @function)

(entry
  name: (identifier) @function)

(mu
  name: (identifier) @function)

; Constructors: the names in arms and declarations, and capitalised names of several letters, which
; the language does not tell from other names.

((expression/identifier) @constructor
  (#match? @constructor "^[A-Z][A-Za-z0-9_]*([a-z][A-Za-z0-9_]*\\*?|\\*)$"))

(constructor) @constructor

; Built-in functions

((expression/identifier) @operator
  (#any-of? @operator
    "+" "-" "*" "/" "%" "=" "~=" "<" "<=" ">" ">=" "&" "|" "^" "~" "<<" ">>" "!")
  (#is-not? local))

((expression/identifier) @function.builtin
  (#any-of? @function.builtin
    "min" "max" "neg" "abs" "sqrt" "rsqrt" "recip" "exp" "exp2" "log" "log2" "log10" "sin" "cos"
    "tan" "asin" "acos" "atan" "sinh" "cosh" "tanh" "pow" "atan2" "floor" "ceil" "round" "trunc"
    "erf" "not" "popcount" "and" "or" "map" "map_seq" "map_global" "map_workgroup" "map_local"
    "to_global" "to_local" "to_private" "range" "imap" "reduce" "reduce_comm" "scan" "exscan" "foldl"
    "scanl" "reduce_seq" "permute" "gather" "slice" "trace" "length" "filter" "scatter" "histogram"
    "count" "sort" "table" "datum" "zip" "unzip" "concat" "reverse" "replicate" "rotate" "update"
    "update_slice" "tabulate" "partition" "shape" "reshape" "transpose" "flatten" "rows" "unrows"
    "split" "join" "as_vector" "as_scalar" "segments" "unflatten" "iterate" "while" "to_int8"
    "from_int8" "wrap_int8" "to_int16" "from_int16" "wrap_int16" "to_int" "from_int" "wrap_int"
    "to_int64" "from_int64" "wrap_int64" "to_uint8" "from_uint8" "wrap_uint8" "to_uint16"
    "from_uint16" "wrap_uint16" "to_uint32" "from_uint32" "wrap_uint32" "to_uint64" "from_uint64"
    "wrap_uint64" "to_float" "from_float" "to_double" "from_double" "to_bool" "from_bool" "to_int32"
    "from_int32" "wrap_int32")
  (#is-not? local))

; Types

(type_identifier) @type

((type_identifier) @type.builtin
  (#any-of? @type.builtin
    "int8" "int16" "int" "int32" "int64" "uint8" "uint16" "uint32" "uint64" "float" "double" "bool"
    "unit"))

(vector) @type.builtin

(type_variable) @type

(type_definition
  name: (type_identifier) @type.definition)

; Literals

(number) @number

(boolean) @boolean

(nil) @constant.builtin

(string) @string

(escape_sequence) @string.escape

(import
  path: (string) @string.special.path)

(projection
  element: [
    (element)
    (number)
  ] @property)

; Keywords

[
  "lambda"
  "mu"
] @keyword.function

[
  "if"
  "then"
  "else"
  "case"
] @keyword.conditional

"import" @keyword.import

[
  "types"
  "foreign"
  "define"
  "entry"
  "let"
  "in"
  "foreach"
  "up"
  "dn"
] @keyword

[
  "effect"
  "device"
] @keyword.modifier

; Punctuation

[
  "("
  ")"
  "["
  "]"
] @punctuation.bracket

[
  ","
  ":"
] @punctuation.delimiter

[
  "->"
  "!"
  "+"
  "."
] @operator

; Comments. Those at the beginning of a file, and above an entry or a definition, are documentation.

(comment) @comment

(block_comment) @comment

(source_file
  .
  (comment)+ @comment.documentation)

((comment)+ @comment.documentation
  .
  [
    (definition)
    (entry)
  ])

; Tests

(test_marker) @keyword.directive

(test
  "=>" @operator)

(test_name) @variable.parameter

(test_error) @keyword.exception

(test_value) @constant
