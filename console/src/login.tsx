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
          {/* The command is below. */}
          <Foreign text={message.replace(/ Get a new link with: codemode console\.?$/, '')} lines />
        </p>
        <p>Run this in a terminal on the machine where codemode runs, and open the link that it prints:</p>
        <Command text="codemode console" />
      </div>
    </main>
  );
}
