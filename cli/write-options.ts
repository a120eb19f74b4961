/** Options of commands that create or change an object over HTTP. */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError } from 'commander';
import { isJsonObject } from '#libs/infrastructure/json';
import { CliError } from './failure.ts';
import { fields, type View } from './output/table.ts';

export const fileOption = [
  '--from <file>',
  'fields of the request as YAML or JSON, "-" for standard input; other options take precedence',
] as const;

/**
 * Adds options for text fields, and `--from`.
 * @param texts field of the request → description
 */
export function withFields(command: Command, texts: Readonly<Record<string, string>>): Command {
  for (const [field, description] of Object.entries(texts))
    command.option(`--${field.replaceAll('_', '-')} <text>`, description);
  return command.option(...fileOption);
}

/**
 * Returns the body of the request: the fields of the file, and the options with values over them.
 * @throws CliError when there is no field
 */
export async function readBody<Body>(from: string | undefined, options: object): Promise<Body> {
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value] as const],
  );
  const body = { ...(from === undefined ? {} : await readFields(from)), ...Object.fromEntries(given) };
  if (Object.keys(body).length === 0) throw new CliError('Specify at least one field.', 'usage');
  return body as Body; // the API validates it
}

async function readFields(from: string): Promise<Record<string, unknown>> {
  const content = from === '-' ? await text(process.stdin) : await readFile(from, 'utf8');
  const { parse } = await import('yaml');
  let value: unknown;
  try {
    value = parse(content);
  } catch (error) {
    throw new CliError(`${from}: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`);
  }
  if (!isJsonObject(value)) throw new CliError(`${from} must contain an object with the fields of the request.`);
  return value;
}

/** Collects `key=value` pairs; without a value, the key is removed. @throws InvalidArgumentError */
export function collectPair(value: string, known: Readonly<Record<string, string | null>> = {}) {
  const at = value.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('must be key=value, or key= to remove the key.');
  return { ...known, [value.slice(0, at)]: value.slice(at + 1) || null };
}

/** Shows an object: its texts and numbers, and other values as JSON. */
export function describeObject(object: Readonly<Record<string, unknown>>): View {
  return fields(
    Object.fromEntries(
      Object.entries(object).map(([name, value]) => [
        name.replaceAll('_', ' '),
        typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as string | number | null),
      ]),
    ),
  );
}

/** Returns a line about the result of an update. */
export function describeChanges(what: string, changes: object): string {
  const names = Object.keys(changes);
  return names.length === 0 ? `Nothing changed: ${what}` : `Changed ${what}: ${names.join(', ')}`;
}
