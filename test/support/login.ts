import { type Home, startProgram } from './program.js';

/** `codemode auth login notes`, up to the address that it prints. */
export async function startLogin(home: Home, ...words: string[]) {
  const child = startProgram(home, 'auth', 'login', 'notes', ...words);
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  const ended = new Promise<{ status: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once('close', (status) => resolve({ status, stdout, stderr }));
  });
  const address = await new Promise<string>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
      const found = /^ {2}(http\S+)$/m.exec(stderr)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('close', () => reject(new Error(`it ended: ${stderr}`)));
  });
  return { address, ended, child };
}
