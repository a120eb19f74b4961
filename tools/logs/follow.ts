/** Follows log files like `tail -F`: continues when a file is truncated, rotated or recreated. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

/** Maximum number of bytes before the end of a file that are searched for the last lines. */
const earlierBytes = 64 * 1024;
const readBytes = 64 * 1024;
/** A line of this length without a line break is returned as is. */
const longestLine = 1024 * 1024;

interface OpenFile {
  readonly fd: number;
  readonly inode: number;
  /** Number of bytes that were read. */
  offset: number;
}

export class FollowedFile {
  readonly #path: string;
  #file: OpenFile | undefined;
  #decoder = new StringDecoder('utf8');
  #rest = '';

  /** @param path path of the file, which need not exist yet */
  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the complete lines since the last call. The first call returns the last `earlier` lines. */
  read(earlier: number): string[] {
    const isFirst = this.#file === undefined;
    this.#file ??= this.#open();
    if (this.#file === undefined) return [];
    if (isFirst) this.#file.offset = Math.max(0, fstatSync(this.#file.fd).size - earlierBytes);
    const isCut = isFirst && this.#file.offset > 0;
    const lines = this.#readLines(this.#file);
    if (isFirst) return lines.slice(isCut ? 1 : 0).slice(-earlier);
    if (!this.#wasReplaced(this.#file)) return lines;
    return [...lines, ...this.#readLines(this.#file), ...this.#readNext()];
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file.fd);
    this.#file = undefined;
  }

  #open(): OpenFile | undefined {
    try {
      const fd = openSync(this.#path, 'r');
      return { fd, inode: fstatSync(fd).ino, offset: 0 };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  #wasReplaced({ inode }: OpenFile): boolean {
    const now = statSync(this.#path, { throwIfNoEntry: false });
    return now !== undefined && now.ino !== inode;
  }

  /** After a rotation, reads the new file from its start. */
  #readNext(): string[] {
    this.close();
    const unfinished = this.#rest === '' ? [] : [this.#rest];
    this.#rest = '';
    this.#decoder = new StringDecoder('utf8');
    this.#file = this.#open();
    return this.#file === undefined ? unfinished : [...unfinished, ...this.#readLines(this.#file)];
  }

  #readLines(file: OpenFile): string[] {
    if (fstatSync(file.fd).size < file.offset) file.offset = 0; // truncated
    const buffer = Buffer.alloc(readBytes);
    const lines: string[] = [];
    for (let size = -1; size !== 0; file.offset += size) {
      size = readSync(file.fd, buffer, 0, buffer.length, file.offset);
      const parts = (this.#rest + this.#decoder.write(buffer.subarray(0, size))).split('\n');
      this.#rest = parts.pop() ?? '';
      lines.push(...parts);
      if (this.#rest.length <= longestLine) continue;
      lines.push(this.#rest);
      this.#rest = '';
    }
    return lines;
  }
}

/** Merges the JSON lines of several files by time. A line without a time is placed after its predecessor. */
export function mergeByTime(files: readonly (readonly string[])[]): string[] {
  const timed = files.flatMap((lines) => {
    let time = '';
    return lines.map((line) => ({ line, time: (time = /"time":"([^"]+)"/.exec(line)?.[1] ?? time) }));
  });
  return timed.toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0)).map(({ line }) => line);
}
