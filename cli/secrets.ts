/** `secrets generate`: needs no platform, since it comes before there is one. */
import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { decisions, generateSecrets, writeEnvFile, type ServerAddresses } from './secrets/generate.ts';

interface Options {
  out?: string;
  postgresql?: string;
  nats?: string;
}

export function register(secrets: Command, context: CliContext): void {
  secrets
    .command('generate')
    .description('Makes a new set: an env file as docker compose reads it, or with --postgresql and --nats as the chart wants its Secret')
    .option('--postgresql <host:port/database>', 'where PostgreSQL is, as the pods reach it')
    .option('--nats <host:port>', 'where NATS is, as the pods reach it')
    .option('--out <file>', 'write it there, for its owner alone, instead of printing it; never over an older file')
    .option('--json', 'one object instead of an env file')
    .action((options: Options) => {
      const addresses = readAddresses(options);
      const secrets = generateSecrets(addresses);
      const groups = addresses === undefined ? [...secrets, decisions] : secrets;
      const all = Object.assign({}, ...groups.map(([, variables]) => variables)) as Record<string, string>;
      const text = context.json ? JSON.stringify(all, null, 2) : writeEnvFile(groups).trimEnd();
      if (options.out === undefined) {
        context.print(all, text);
        return;
      }
      writeNew(options.out, `${text}\n`);
      const count = secrets.flatMap(([, variables]) => Object.keys(variables)).length;
      context.print({ file: options.out, secrets: count }, `${count} secrets are in ${options.out}, which nobody else can read.`);
    });
}

/** @throws CliError when one is missing or is no place */
function readAddresses({ postgresql, nats }: Options): ServerAddresses | undefined {
  if (postgresql === undefined && nats === undefined) return undefined;
  if (postgresql === undefined || !/^[^\s/@:]+(:\d+)?\/[^\s/@]+$/.test(postgresql))
    throw new CliError('--postgresql must be host:port/database, e.g. postgresql.example.org:5432/coherence', 'usage');
  if (nats === undefined || !/^[^\s/@:]+(:\d+)?$/.test(nats))
    throw new CliError('--nats must be host:port, e.g. nats.example.org:4222', 'usage');
  return { postgresql, nats };
}

function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(code === 'EEXIST' ? `${file} is there already; its secrets would be lost. Move it away first.` : message);
  }
}
