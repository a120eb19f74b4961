import { InvalidArgumentError } from 'commander';

/** An id on the command line. @throws InvalidArgumentError */
export function parseId(text: string): number {
  const id = Number(text);
  if (!/^[0-9]+$/.test(text) || id < 1 || id > 2_147_483_647) throw new InvalidArgumentError('must be an id.');
  return id;
}
