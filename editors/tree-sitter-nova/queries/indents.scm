; Items of a form that begin a line stand two columns to the right of its parenthesis.

[
  (types)
  (type_definition)
  (foreign)
  (define)
  (definition)
  (entry)
  (inputs)
  (sum_type)
  (constructor_declaration)
  (lambda)
  (let)
  (binding)
  (mu)
  (if)
  (case)
  (arm)
  (foreach)
  (up)
  (application)
  (tuple)
  (vector_literal)
] @indent.begin

[
  ")"
  "]"
] @indent.branch @indent.end

[
  (comment)
  (block_comment)
  (test)
] @indent.ignore
