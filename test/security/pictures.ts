/** Images whose files are small. Images that only claim huge dimensions are small images with changed headers. */
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';

type Bytes = Uint8Array<ArrayBuffer>;
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function pngChunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** Returns a black square with one bit per pixel. With fewer `rows` than declared, the image is truncated. */
export function hugePng(size: number, rows = size, extra: readonly Buffer[] = []): Bytes {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header[8] = 1;
  const pixels = deflateSync(Buffer.alloc(rows * (1 + Math.ceil(size / 8))), { level: 9 });
  return Buffer.concat([
    signature,
    pngChunk('IHDR', header),
    ...extra,
    pngChunk('IDAT', pixels),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Returns a small image with a compressed comment of this length. */
export function pngWithText(length: number): Bytes {
  const text = Buffer.concat([
    Buffer.from('Comment\0\0', 'latin1'),
    deflateSync(Buffer.alloc(length, 'x'), { level: 9 }),
  ]);
  return hugePng(16, 16, [pngChunk('zTXt', text)]);
}

/** Returns an image of a single colour with three channels. */
export async function solidPng(size: number): Promise<Bytes> {
  const create = { width: size, height: size, channels: 3, background: '#c02060' } as const;
  return new Uint8Array(await sharp({ create }).png({ palette: true }).toBuffer());
}

const small = { create: { width: 8, height: 8, channels: 3, background: '#c02060' } } as const;

export async function hugeJpeg(): Promise<Bytes> {
  const bytes = new Uint8Array(await sharp(small).jpeg().toBuffer());
  const frame = bytes.findIndex((byte, index) => byte === 0xff && bytes[index + 1] === 0xc0);
  bytes.set([0xff, 0xdc, 0xff, 0xdc], frame + 5);
  return bytes;
}

/** Returns an image of 16,383 by 16,383 pixels, the maximum that the file header can express. */
export async function hugeWebp(): Promise<Bytes> {
  const bytes = new Uint8Array(await sharp(small).webp({ lossless: true }).toBuffer());
  const start = Buffer.from(bytes).indexOf('VP8L') + 9;
  bytes.set([0xfe, 0xbf, 0xff, (bytes[start + 3] ?? 0) | 0x0f], start);
  return bytes;
}

export async function hugeGif(): Promise<Bytes> {
  const bytes = new Uint8Array(await sharp(small).gif().toBuffer());
  bytes.set([0xff, 0xff, 0xff, 0xff], 6);
  const frame = bytes.indexOf(0x2c, 13);
  bytes.set([0xff, 0xff, 0xff, 0xff], frame + 5);
  return bytes;
}

/** Returns an animation that repeats the single frame of a small image. */
export async function animatedGif(frames: number, size: number): Promise<Bytes> {
  const create = { width: size, height: size, channels: 3, background: '#c02060' } as const;
  const bytes = await sharp({ create }).gif().toBuffer();
  const palette = 3 * 2 ** (((bytes[10] ?? 0) & 7) + 1);
  const start = 13 + ((bytes[10] ?? 0) & 0x80 ? palette : 0);
  const frame = bytes.subarray(start, bytes.length - 1);
  return Buffer.concat([bytes.subarray(0, start), ...Array.from({ length: frames }, () => frame), Buffer.from(';')]);
}

export function hugeSvg(): Bytes {
  const entities = Array.from(
    { length: 10 },
    (_value, index) => `<!ENTITY a${index + 1} "${`&a${index};`.repeat(10)}">`,
  ).join('');
  const text = `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a0 "ha">${entities}]><svg xmlns="http://www.w3.org/2000/svg" width="100000" height="100000"><text>&a10;</text></svg>`;
  return new TextEncoder().encode(text);
}
