import { InvalidArgumentError } from 'commander';

/** The most rows that a list prints. @throws InvalidArgumentError */
export function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^[0-9]+$/.test(text) || limit < 1 || limit > 1_000) throw new InvalidArgumentError('must be 1 to 1000.');
  return limit;
}
