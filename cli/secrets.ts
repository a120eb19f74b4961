/** `secrets generate`: generates the secrets of an installation. Needs no platform. */
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
    .description(
      'Generates a new set of secrets: an env file for docker compose, or with --postgresql and --nats for the Secret of the chart',
    )
    .option('--postgresql <host:port/database>', 'address of PostgreSQL from inside the cluster')
    .option('--nats <host:port>', 'address of NATS from inside the cluster')
    .option('--out <file>', 'write to this new file, readable only by its owner, instead of standard output')
    .option('--json', 'print one JSON object instead of an env file')
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
      context.print(
        { file: options.out, secrets: count },
        `Wrote ${count} secrets to ${options.out}, readable only by its owner.`,
      );
    });
}

/** @throws CliError when an address is missing or malformed */
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
    throw new CliError(
      code === 'EEXIST' ? `${file} exists already. Move it first, or its secrets would be lost.` : message,
    );
  }
}
