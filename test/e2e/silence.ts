const samplesPerSecond = 8_000;

/** Returns a silent WAV file: 16 bit, mono, 8 kHz. */
export function makeSilence(milliseconds: number): Uint8Array<ArrayBuffer> {
  const data = Buffer.alloc((2 * samplesPerSecond * milliseconds) / 1_000);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(samplesPerSecond, 24);
  head.writeUInt32LE(2 * samplesPerSecond, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}
