/**
 * What an uploaded logo becomes (rules/media#logo; D51): judged by its bytes alone, decoded and encoded anew,
 * so that nothing of the file but its picture is stored. The only importer of sharp and file-type, which the first logo loads: most services
 * that run see none, and libvips takes 10 MB.
 */
import { randomBytes } from 'node:crypto';
import type Sharp from 'sharp';
import { AppError } from '#libs/errors';

type LogoFormat = 'jpeg' | 'png' | 'gif' | 'webp';

export interface LogoImage {
  readonly bytes: Buffer;
  readonly extension: string;
  readonly contentType: string;
}

export interface LogoImages {
  /** @throws AppError 400 for anything but a whole jpeg, png, gif or webp picture. */
  reencode(bytes: Uint8Array): Promise<LogoImage>;
}

export interface LogoImageOptions {
  /** Most pixels of a picture, all frames together; default 50 million, some 200 MB while it is worked on. */
  readonly maxPixels?: number;
}

/** An animated png counts as png and keeps its first frame. */
const formats: Readonly<Record<string, LogoFormat>> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/apng': 'png',
  'image/gif': 'gif',
  'image/webp': 'webp',
};
const extensions: Readonly<Record<LogoFormat, string>> = { jpeg: 'jpg', png: 'png', gif: 'gif', webp: 'webp' };
const defaultMaxPixels = 50_000_000;
const quality = 90;
const timeoutSeconds = 30;

/** One picture at a time and one thread for it, whatever the number of uploads: memory and processor are bounded. */
export function createLogoImages({ maxPixels = defaultMaxPixels }: LogoImageOptions = {}): LogoImages {
  let tools: ReturnType<typeof loadTools> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return {
    reencode: async (bytes) => {
      const { sharp, fileTypeFromBuffer } = await (tools ??= loadTools());
      const format = formats[(await fileTypeFromBuffer(bytes))?.mime ?? ''];
      if (format === undefined) throw invalidLogo('The logo must be a jpeg, png, gif or webp image.');
      const encoded = last.then(() => encode(sharp, bytes, format, maxPixels));
      last = encoded.catch(() => undefined);
      return { bytes: await encoded, extension: extensions[format], contentType: `image/${format}` };
    },
  };
}

async function loadTools() {
  const [{ default: sharp }, { fileTypeFromBuffer }] = await Promise.all([import('sharp'), import('file-type')]);
  sharp.concurrency(1);
  sharp.cache(false);
  return { sharp, fileTypeFromBuffer };
}

/** Upright, in sRGB, without metadata; frames and their times stay. */
async function encode(sharp: typeof Sharp, bytes: Uint8Array, format: LogoFormat, maxPixels: number): Promise<Buffer> {
  const animated = format === 'gif' || format === 'webp';
  try {
    const picture = sharp(bytes, { animated, limitInputPixels: maxPixels, failOn: 'error' }).timeout({ seconds: timeoutSeconds });
    const upright = animated ? picture : picture.autoOrient();
    return await upright.toFormat(format, format === 'jpeg' || format === 'webp' ? { quality } : {}).toBuffer();
  } catch (error) {
    throw invalidLogo('The logo cannot be decoded, or has too many pixels.', { cause: error });
  }
}

export function invalidLogo(message: string, options?: ErrorOptions): AppError {
  return new AppError({ code: 'bad_request', message }, options);
}

/** A fresh key; the same text is the path under `/media/`, so that nobody can guess it. */
export function newLogoKey(holonId: number, extension: string): string {
  return `logos/${holonId}/${randomBytes(24).toString('base64url')}.${extension}`;
}
