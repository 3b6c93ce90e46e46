("(" @open ")" @close)

("[" @open "]" @close)
