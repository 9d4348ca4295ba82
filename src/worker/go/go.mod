module codemode

go 1.19
