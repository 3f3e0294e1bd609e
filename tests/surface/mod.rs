//! What is drawn from the forms for clients that do not speak GPT (DESIGN 8; issue 4).

mod mcp;
