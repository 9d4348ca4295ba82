/** Names that no function of the generated package may have. Such a function gets a trailing `_`. */
export const GO_UNDECLARABLE: ReadonlySet<string> = new Set([
  // keywords
  ...['break', 'case', 'chan', 'const', 'continue', 'default', 'defer', 'else', 'fallthrough', 'for', 'func', 'go'],
  ...['goto', 'if', 'import', 'interface', 'map', 'package', 'range', 'return', 'select', 'struct', 'switch', 'type'],
  'var',
  // predeclared: legal to declare, but then the agent's `len(list)` means something else
  ...['any', 'bool', 'byte', 'comparable', 'complex64', 'complex128', 'error', 'float32', 'float64', 'int', 'int8'],
  ...['int16', 'int32', 'int64', 'rune', 'string', 'uint', 'uint8', 'uint16', 'uint32', 'uint64', 'uintptr', 'true'],
  ...['false', 'iota', 'nil', 'append', 'cap', 'clear', 'close', 'complex', 'copy', 'delete', 'imag', 'len', 'make'],
  ...['max', 'min', 'new', 'panic', 'print', 'println', 'real', 'recover'],
  // functions with their own meaning
  ...['main', 'init'],
  // helpers beside the tools, and the usual variable names of programs
  ...['ctx', 'err', 'codemode', 'ptr', 'convert', 'callTool', 'searchTools', 'describeTools'],
  // packages of the standard library: a function of that name would conflict with the import
  ...['adler32', 'aes', 'ascii85', 'asn1', 'ast', 'atomic', 'base32', 'base64', 'big', 'binary', 'bits', 'bufio'],
  ...['build', 'buildinfo', 'bytes', 'bzip2', 'cgi', 'cgo', 'cipher', 'cmp', 'cmplx', 'color', 'comment', 'constant'],
  ...['constraint', 'context', 'cookiejar', 'coverage', 'crc32', 'crc64', 'crypto', 'cryptotest', 'csv', 'debug'],
  ...['des', 'doc', 'draw', 'driver', 'dsa', 'dwarf', 'ecdh', 'ecdsa', 'ed25519', 'elf', 'elliptic', 'embed'],
  ...['encoding', 'errors', 'exec', 'expvar', 'fcgi', 'filepath', 'fips140', 'flag', 'flate', 'fmt', 'fnv', 'format'],
  ...['fs', 'fstest', 'gif', 'gob', 'gosym', 'gzip', 'hash', 'heap', 'hex', 'hkdf', 'hmac', 'hpke', 'html', 'http'],
  ...['httptest', 'httptrace', 'httputil', 'image', 'importer', 'io', 'iotest', 'ioutil', 'iter', 'jpeg', 'json'],
  ...['jsonrpc', 'list', 'log', 'lzw', 'macho', 'mail', 'maphash', 'maps', 'math', 'md5', 'metrics', 'mime', 'mlkem'],
  ...['mlkemtest', 'multipart', 'net', 'netip', 'os', 'palette', 'parse', 'parser', 'path', 'pbkdf2', 'pe', 'pem'],
  ...['pkix', 'plan9obj', 'plugin', 'png', 'pprof', 'printer', 'quick', 'quotedprintable', 'race', 'rand', 'rc4'],
  ...['reflect', 'regexp', 'ring', 'rpc', 'rsa', 'runtime', 'scanner', 'sha1', 'sha256', 'sha3', 'sha512', 'signal'],
  ...['slices', 'slog', 'slogtest', 'smtp', 'sort', 'sql', 'strconv', 'strings', 'structs', 'subtle', 'suffixarray'],
  ...['sync', 'synctest', 'syntax', 'syscall', 'syslog', 'tabwriter', 'tar', 'template', 'testing', 'textproto'],
  ...['time', 'tls', 'token', 'trace', 'types', 'tzdata', 'unicode', 'unique', 'unsafe', 'url', 'user', 'utf16'],
  ...['utf8', 'version', 'weak', 'x509', 'xml', 'zip', 'zlib'],
]);
