/**
 * Passwords that rotate: a file that a secret store renews, or a command that makes a token, asked for each new connection. An address carries where
 * its password is (`buildDatabaseUrl` of libs/config).
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

export type ReadPassword = () => Promise<string>;

const commandTimeoutMs = 10_000;
const maxBytes = 64 * 1024;
/** SQLSTATE of a client that cannot connect. */
const cannotConnect = '08001';

/** Takes the source of the password out of an address; undefined when it names none. */
export function readPasswordSource(params: URLSearchParams): ReadPassword | undefined {
  const file = params.get('password_file');
  const command = params.get('password_command');
  params.delete('password_file');
  params.delete('password_command');
  if (file !== null) return () => readPasswordFile(file);
  return command === null ? undefined : shareRuns(() => runPasswordCommand(JSON.parse(command) as string[]));
}

async function readPasswordFile(file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw failure(`DATABASE_PASSWORD_FILE: ${(error as Error).message}`);
  }
  return check(text, `DATABASE_PASSWORD_FILE ${file}`);
}

/** Without a shell. What the command prints is in no message. */
function runPasswordCommand([program = '', ...args]: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const name = `DATABASE_PASSWORD_COMMAND ${program}`;
    const child = execFile(program, args, { timeout: commandTimeoutMs, maxBuffer: maxBytes, encoding: 'utf8' }, (error, stdout) => {
      if (error === null) {
        try {
          resolve(check(stdout, name));
        } catch (reason) {
          reject(reason);
        }
        return;
      }
      const { code, killed } = error;
      const tooMuch = String(code) === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
      const why = tooMuch ? `printed more than ${maxBytes} bytes` : killed === true ? 'took longer than 10 s' : `failed (${String(code)})`;
      reject(failure(`${name} ${why}`));
    });
    child.stdin?.end();
  });
}

function check(text: string, name: string): string {
  const password = text.replace(/\r?\n$/, '');
  if (password === '' || password.length > maxBytes) throw failure(`${name}: the password is empty or too long`);
  return password;
}

/** Connections that are made at the same time share one run. */
function shareRuns(run: ReadPassword): ReadPassword {
  let running: Promise<string> | undefined;
  return () => (running ??= run().finally(() => (running = undefined)));
}

const failure = (message: string): Error => Object.assign(new Error(message), { code: cannotConnect });
