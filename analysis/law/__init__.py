"""The law: a designed experiment over what small networks and P1's differ in."""
