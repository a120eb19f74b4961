/** Runs a test script in a separate process, which the test can kill, stop and continue. */
import { fork } from 'node:child_process';
import { waitFor } from './wait-for.ts';

export interface ScriptProcess {
  /** Messages that the script sent with `process.send`, in order. */
  readonly messages: readonly unknown[];
  /** Waits for a message for which `test` returns a value. */
  waitForMessage<T>(test: (message: unknown) => T | undefined): Promise<T>;
  /** Sends a message to the script, which receives it by `process.on('message')`. */
  send(message: object): void;
  signal(name: NodeJS.Signals): void;
  /** Resolves with exit code or signal when the process has ended. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Starts `file` (TypeScript) with these variables. Its output is written to the standard error of this process. */
export function startScriptProcess(file: string, env: Readonly<Record<string, string>>): ScriptProcess {
  const child = fork(file, [], {
    env: { ...process.env, ...env, NODE_OPTIONS: '' },
    execArgv: [],
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  const messages: unknown[] = [];
  let end: number | NodeJS.Signals | undefined;
  child.on('message', (message) => messages.push(message));
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => {
      end = signal ?? code ?? 0;
      resolve(end);
    });
  });
  return {
    messages,
    waitForMessage: async (test) => {
      const find = () => {
        for (const message of messages) {
          const found = test(message);
          if (found !== undefined) return { found };
        }
        if (end !== undefined) throw new Error(`${file} has ended: ${end}`);
        return undefined;
      };
      const { found } = await waitFor(find, { what: `a message of ${file}` });
      return found;
    },
    send: (message) => void child.send(message),
    signal: (name) => void child.kill(name),
    ended,
  };
}
