"""What an assistant asks of traces: tools whose answers say what they are of, and what they do not know."""
