import { expect, test } from 'vitest';
import { withoutStackFrames } from './without-stack-frames.js';

test('the error of a crash is kept, its stack frames are not', () => {
  const stderr = `node:internal/modules/esm/resolve:873
  throw new ERR_MODULE_NOT_FOUND(packageName);
Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod'
    at packageResolve (node:internal/modules/esm/resolve:873:9)
    at async ModuleLoader.getModuleJob (node:internal/modules/esm/loader:264:38)
    at file:///srv/index.js:3:1 {
  code: 'ERR_MODULE_NOT_FOUND'
}
Node.js v20.20.2`;
  expect(withoutStackFrames(stderr)).toBe(`node:internal/modules/esm/resolve:873
  throw new ERR_MODULE_NOT_FOUND(packageName);
Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod'
  code: 'ERR_MODULE_NOT_FOUND'
}
Node.js v20.20.2`);
});

test('of a line that was written over itself the last is kept', () => {
  expect(withoutStackFrames('a\r\n 10 %\r 50 %\rfailed\nb')).toBe('a\nfailed\nb');
});

test.each(['look at /srv/log:3:1', '    at the port', 'Traceback:\n  File "a.py", line 3'])('%j stays', (line) => {
  expect(withoutStackFrames(line)).toBe(line);
});

test('of a crash of Python its last line is kept, its frames are not', () => {
  const stderr = `Traceback (most recent call last):
  File "/srv/bin/mcp-server-sqlite", line 8, in <module>
    sys.exit(main())
             ^^^^^^
  File "/srv/lib/server.py", line 173, in main
    @server.list_resources()
     ^^^^^^^^^^^^^^^^^^^^^
AttributeError: 'Server' object has no attribute 'list_resources'
see the log`;
  expect(withoutStackFrames(stderr)).toBe(
    "AttributeError: 'Server' object has no attribute 'list_resources'\nsee the log",
  );
});
