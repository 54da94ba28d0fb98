"""The stages of one turn of the loop: observe, skip, decide, gate, execute, verify, roll back; and recovery after a crash."""
