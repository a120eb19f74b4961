import { describe, expect, it } from '@jest/globals';
import { EncodingDetector } from './index.ts';

const text = '[{"sentence":"Grüße, 你好 😀"}]';
const utf16 = Buffer.from(text, 'utf16le');

/** Returns the encoding that the detector reports when the bytes are split into chunks of this size. */
function nameOf(bytes: Buffer, size: number): string | undefined {
  const check = new EncodingDetector();
  let name: string | undefined;
  for (let at = 0; at < bytes.length; at += size) name ??= check.push(bytes.subarray(at, at + size));
  return name;
}

describe('EncodingCheck (D86)', () => {
  it.each<[string, Buffer, string | undefined]>([
    ['UTF-8', Buffer.from(text), undefined],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`), undefined],
    ['UTF-16 little endian', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), 'UTF-16LE'],
    ['UTF-16 big endian', Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()]), 'UTF-16BE'],
    ['UTF-16 little endian without a mark', utf16, 'UTF-16LE'],
    ['UTF-16 big endian without a mark', Buffer.from(utf16).swap16(), 'UTF-16BE'],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x5b, 0, 0, 0]), 'UTF-32LE'],
    ['Latin-1', Buffer.from('[{"sentence":"Grüße"}]', 'latin1'), 'ISO-8859-1 (Latin-1)'],
    ['one byte of Latin-1 at the end', Buffer.concat([Buffer.from(text), Buffer.from([0xe9, 0x20])]), 'Latin-1'],
    ['gzip', Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0x00]), 'gzip'],
    ['surrogates', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'single-byte'],
  ])('detects %s, for any chunks of the bytes', (_what, bytes, name) => {
    for (const size of [1, 2, 3, 4, 5, bytes.length]) {
      if (name === undefined) expect(nameOf(bytes, size)).toBeUndefined();
      // With small chunks the detector may see only the first byte of a signature, which shows that the text is not
      // UTF-8 but not its encoding.
      else if (size > 3) expect(nameOf(bytes, size)).toContain(name);
      else expect(nameOf(bytes, size)).toBeDefined();
    }
  });
});
