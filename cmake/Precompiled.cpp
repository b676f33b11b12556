// Owns the precompiled header that the compiler's libraries reuse. Nothing else lives here.
