/** Names of files as clients give them, made fit to be kept. */
import { removeControlCharacters } from '#libs/text';

/** Longest name that is kept, in characters; the extension survives the cut. */
const maxNameLength = 200;

/** Last segment of either kind of path, without characters that have no place in a file name. */
export function cleanFileName(fileName: string): string {
  const base = fileName.split(/[/\\]/).at(-1) ?? '';
  return removeControlCharacters(base).trim();
}

/** At most 200 characters; the extension survives the cut. */
export function shortenFileName(name: string, extensionLength: number): string {
  const characters = Array.from(name);
  if (characters.length <= maxNameLength) return name;
  const tail = characters.slice(-(extensionLength + 1));
  return [...characters.slice(0, maxNameLength - tail.length), ...tail].join('');
}
