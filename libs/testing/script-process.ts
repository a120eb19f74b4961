/** A script of the tests in a process of its own, to be killed, stopped and continued like a real one. */
import { fork } from 'node:child_process';
import { waitFor } from './wait-for.ts';

export interface ScriptProcess {
  /** What the script has told by `process.send`, in order. */
  readonly messages: readonly unknown[];
  /** Waits for a message that passes. */
  waitForMessage<T>(test: (message: unknown) => T | undefined): Promise<T>;
  /** Tells the script something; it hears it by `process.on('message')`. */
  send(message: object): void;
  signal(name: NodeJS.Signals): void;
  /** Resolves with exit code or signal when the process is gone. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Starts `file` (TypeScript) with these variables. What it writes goes to this process's standard error. */
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
