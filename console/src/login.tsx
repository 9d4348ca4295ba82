import { Foreign } from './ui/foreign.js';
import { Logo } from './ui/logo.js';
import { Command } from './ui/parts.js';

/** No session: what happened, and how to get one. */
export function LogIn({ message }: { message: string }) {
  return (
    <main class="login">
      <div class="panel login-card">
        <p class="brand">
          <Logo />
          <span>codemode</span>
        </p>
        <h1>You are not logged in</h1>
        <p class="muted">
          <Foreign text={message} lines />
        </p>
        <p>Type this in a terminal on the machine that codemode runs on, and open the link that it prints:</p>
        <Command text="codemode console" />
      </div>
    </main>
  );
}
