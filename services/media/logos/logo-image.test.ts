import { describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { createLogoImages, newLogoKey } from './logo-image.ts';

const images = createLogoImages();
const picture = (width = 8, height = 6) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 40, b: 90 } } });
/** Creates an animation with three frames of different colours, as one tall image that consists of pages. */
const frames = (format: 'gif' | 'webp') => {
  const pixels = Buffer.concat(
    [
      [255, 0, 0],
      [0, 255, 0],
      [0, 0, 255],
    ].map((colour) => Buffer.concat(Array.from({ length: 16 }, () => Buffer.from(colour)))),
  );
  const raw = { width: 4, height: 12, channels: 3 as const, pageHeight: 4 };
  return sharp(pixels, { raw })
    .toFormat(format, { delay: [100, 200, 300], loop: 2 })
    .toBuffer();
};
const refusal = { code: 'bad_request', reason: undefined };

describe('logo images by content (D51)', () => {
  it.each([
    ['jpeg', 'jpg', 'image/jpeg'],
    ['png', 'png', 'image/png'],
    ['gif', 'gif', 'image/gif'],
    ['webp', 'webp', 'image/webp'],
  ] as const)('preserves the format of a %s logo', async (format, extension, contentType) => {
    const image = await images.reencode(await picture().toFormat(format).toBuffer());
    expect([image.extension, image.contentType]).toEqual([extension, contentType]);
    expect(await sharp(image.bytes).metadata()).toMatchObject({ format, width: 8, height: 6 });
  });

  it('strips metadata after it rotates the image upright', async () => {
    const given = await picture()
      .withMetadata({ orientation: 6 })
      .withExif({ IFD0: { Copyright: 'secret-owner' }, IFD3: { GPSLatitudeRef: 'N' } })
      .jpeg()
      .toBuffer();
    expect(given.includes('secret-owner')).toBe(true);
    const { bytes } = await images.reencode(given);
    const { exif, icc, xmp, orientation, width, height } = await sharp(bytes).metadata();
    expect([exif, icc, xmp, orientation, width, height]).toEqual([undefined, undefined, undefined, undefined, 6, 8]);
    expect(bytes.includes('secret-owner')).toBe(false);
  });

  it('removes data appended to an image', async () => {
    const { bytes } = await images.reencode(
      Buffer.concat([await picture().png().toBuffer(), Buffer.from('<script>steal()</script>')]),
    );
    expect(bytes.includes('steal()')).toBe(false);
  });

  it.each(['gif', 'webp'] as const)('preserves frames and durations of an animated %s', async (format) => {
    const { bytes } = await images.reencode(await frames(format));
    expect(await sharp(bytes, { animated: true }).metadata()).toMatchObject({
      pages: 3,
      delay: [100, 200, 300],
      loop: 2,
    });
  });

  it('rejects a file that is not an image in a supported format', async () => {
    const svg = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><rect width="4" height="4"/></svg>',
    );
    const tiff = await picture().tiff().toBuffer();
    for (const bytes of [Buffer.from('not an image'), Buffer.alloc(0), svg, tiff, Buffer.from('%PDF-1.7')])
      await expect(images.reencode(bytes)).rejects.toMatchObject(refusal);
  });

  it('rejects an image that cannot be decoded', async () => {
    const noise = Buffer.from(Array.from({ length: 64 * 64 * 3 }, (_, index) => (index * 7919) % 251));
    for (const format of ['jpeg', 'png', 'gif', 'webp'] as const) {
      const whole = await sharp(noise, { raw: { width: 64, height: 64, channels: 3 } })
        .toFormat(format)
        .toBuffer();
      await expect(images.reencode(whole.subarray(0, Math.floor(whole.byteLength / 2)))).rejects.toMatchObject(refusal);
    }
  });

  it('rejects an image over the pixel limit, counting all frames of an animation', async () => {
    const small = createLogoImages({ maxPixels: 40 });
    await expect(small.reencode(await picture().png().toBuffer())).rejects.toMatchObject(refusal);
    await expect(small.reencode(await frames('gif'))).rejects.toMatchObject(refusal);
    await expect(small.reencode(await picture(5, 8).png().toBuffer())).resolves.toMatchObject({ extension: 'png' });
  });

  it('continues after a failed image, and processes many images', async () => {
    const good = await picture().png().toBuffer();
    const results = await Promise.allSettled([
      images.reencode(good.subarray(0, 40)),
      images.reencode(good),
      images.reencode(good),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  });

  it('generates unguessable object keys that the media route accepts', () => {
    expect(newLogoKey(7, 'png')).toMatch(/^logos\/7\/[A-Za-z0-9_-]{32}\.png$/);
    expect(newLogoKey(7, 'png')).not.toBe(newLogoKey(7, 'png'));
  });
});
