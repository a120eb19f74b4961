import { InvalidArgumentError } from 'commander';

/** Rows before the page of a list. @throws InvalidArgumentError */
export function parseOffset(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('must be a whole number, 0 or more.');
  return Number(text);
}
