import { Foreign } from './ui/foreign.js';
import { Command, Empty } from './ui/parts.js';

/** No session: what happened, and how to get one. */
export function LogIn({ message }: { message: string }) {
  return (
    <main class="main">
      <Empty icon="connect" title="You are not logged in">
        <p class="muted">
          <Foreign text={message} lines />
        </p>
        <p>Each link works once. Type this on the machine that codemode runs on, and open the link that it prints:</p>
        <Command text="codemode console" />
      </Empty>
    </main>
  );
}
