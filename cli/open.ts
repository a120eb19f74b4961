/** `open`: opens the console of the profile's installation in a browser. */
import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import type { CliContext } from './context.ts';

const programs: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

export function register(open: Command, context: CliContext): void {
  open.option('--print', 'print the address without opening it').action(async ({ print }: { print?: true }) => {
    const url = `${(await context.target()).url}/console`;
    if (print !== true && process.stdout.isTTY) {
      const [program, ...args] = programs[process.platform] ?? ['xdg-open'];
      spawn(program, [...args, url], { detached: true, stdio: 'ignore' })
        .once('error', () => {}) // no browser: the address is printed below
        .unref();
    }
    context.print({ url }, url);
  });
}
