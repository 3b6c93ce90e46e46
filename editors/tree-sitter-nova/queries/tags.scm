(definition
  name: (identifier) @name) @definition.function

(entry
  name: (identifier) @name) @definition.function

(foreign_declaration
  name: (identifier) @name) @definition.function

(type_definition
  name: (type_identifier) @name) @definition.type

(constructor_declaration
  name: (constructor) @name) @definition.constructor

(application
  function: (identifier) @name) @reference.call
