import { timingSafeEqual } from 'node:crypto';

/**
 * Tells whether a text is one of some secrets, in a time that depends on none of them: each is laid into a block of one size, which ends with its
 * length, and the text is compared with all, whichever it is (K8).
 * @param counted called with the index of the secret that was given
 */
export function createSecretCheck(secrets: readonly string[], counted: (index: number) => void = () => {}): (given: string) => boolean {
  const size = Math.max(256, ...secrets.map((secret) => Buffer.byteLength(secret)));
  const lay = (block: Buffer, text: string): Buffer => {
    block.fill(0);
    block.write(text, 'utf8');
    block.writeUInt32LE(text.length, size);
    return block;
  };
  const expected = secrets.map((secret) => lay(Buffer.alloc(size + 4), secret));
  const block = Buffer.alloc(size + 4);
  return (given) => {
    lay(block, given);
    let found = -1;
    for (let index = 0; index < expected.length; index++) {
      const secret = expected[index];
      if (secret !== undefined && timingSafeEqual(block, secret)) found = index;
    }
    if (found >= 0) counted(found);
    return found >= 0;
  };
}
