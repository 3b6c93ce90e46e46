; Scopes

[
  (source_file)
  (entry)
  (lambda)
  (let)
  (mu)
  (arm)
  (foreach)
  (up)
] @local.scope

; Definitions

(pattern/identifier) @local.definition

(lambda
  parameters: (identifier) @local.definition)

(links
  (identifier) @local.definition)

(declaration
  name: (identifier) @local.definition)

(mu
  name: (identifier) @local.definition)

(definition
  name: (identifier) @local.definition)

(foreign_declaration
  name: (identifier) @local.definition)

; References

(expression/identifier) @local.reference
