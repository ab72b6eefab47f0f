// Written by `brain extension`: the address of the daemon that it was made for.
export const ADDRESS = "http://127.0.0.1:8787";
