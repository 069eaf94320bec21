// RUN: attn-opt %s --attn-set-target --split-input-file --verify-diagnostics

// expected-error @below {{expects 'attn.target' to be a dictionary, got 5 : i64}}
module attributes {attn.target = 5} {}

// -----

// expected-error @below {{expects 'triple' of 'attn.target' to be a string, got 5 : i64}}
module attributes {attn.target = {triple = 5}} {}

// -----

// expected-error @below {{expects 'vector_bits' of 'attn.target' to be an i64 from 64 to 65536, got 0 : i64}}
module attributes {attn.target = {vector_bits = 0}} {}

// -----

// expected-error @below {{expects 'vector_bits' of 'attn.target' to be a power of two, got 100}}
module attributes {attn.target = {vector_bits = 100}} {}

// -----

// expected-error @below {{expects 'vector_registers' of 'attn.target' to be an i64 from 1 to 65536, got "x"}}
module attributes {attn.target = {vector_registers = "x"}} {}

// -----

// expected-error @below {{expects 'l1_bytes' of 'attn.target' to be an i64 from 0 to 1099511627776, got -5 : i64}}
module attributes {attn.target = {l1_bytes = -5}} {}
