/**
 * Writes and verifies audit chains as JSON lines: `audit export` writes the file, and `audit verify FILE` verifies it
 * offline.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type ChainEnd, type ChainReport, ChainVerifier } from '#libs/infrastructure/audit';
import { type AuditLink, auditLink } from '#libs/infrastructure/contract';
import { isJsonObject, parseJson } from '#libs/infrastructure/json';
import { compileSchema } from '#libs/infrastructure/schema';
import { CliError } from '../failure.ts';

/** Returns one line of the file: a link of a chain with its service. */
export const writeLine = (service: string, link: AuditLink): string => `${JSON.stringify({ service, ...link })}\n`;

interface Chain {
  readonly anchor: ChainEnd;
  readonly verifier: ChainVerifier;
  checked: number;
  broken: ChainReport['broken'];
}

const checkLink = compileSchema(auditLink);

/**
 * Verifies every chain in a file separately. The first link of a chain in the file contains the hash of its
 * predecessor, where verification starts.
 * @throws CliError for malformed lines
 */
export async function verifyFile(file: string): Promise<Map<string, ChainReport>> {
  const chains = new Map<string, Chain>();
  let number = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity })) {
      number++;
      if (line.trim() === '') continue;
      const { service, ...link } = readLine(line, number);
      const chain = chains.get(service) ?? startChain(link);
      chains.set(service, chain);
      chain.checked++;
      chain.broken ??= chain.verifier.check(link);
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`);
  }
  return new Map(
    [...chains].map(([service, { anchor, verifier, checked, broken }]) => [
      service,
      { checked, anchor, head: verifier.last, broken },
    ]),
  );
}

function startChain({ id, previous_hash: hash }: AuditLink): Chain {
  const anchor = { id: id - 1, hash };
  return { anchor, verifier: new ChainVerifier(anchor), checked: 0, broken: undefined };
}

function readLine(line: string, number: number): AuditLink & { service: string } {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch {
    value = undefined;
  }
  if (!isJsonObject(value) || typeof value['service'] !== 'string' || checkLink(value) !== undefined) {
    throw new CliError(`Line ${number} is not an entry of an audit log.`);
  }
  return value as unknown as AuditLink & { service: string };
}
