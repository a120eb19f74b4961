/**
 * Takes the pictures of the pages in docs/images of a platform that runs: `node tools/screenshots/main.ts [ADDRESS]`, by default the one that
 * `npm start` names.
 */
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import sharp from 'sharp';
import { chromiumProgram, provideDebianProgram } from '../servers/debian-program.ts';

const imagesDir = join(import.meta.dirname, '..', '..', 'docs', 'images');
const pages = [
  { name: 'home', path: '/', height: 560, ready: 'h1' },
  { name: 'api-docs', path: '/api/docs', height: 800, ready: 'input[placeholder="Token"]' },
  { name: 'v1-docs', path: '/api/v1/docs', height: 800, ready: 'input[placeholder="Token"]' },
] as const;

const [, , baseUrl = 'http://localhost:8080'] = process.argv;
const [executablePath = ''] = await provideDebianProgram(chromiumProgram, (line) => void process.stderr.write(`${line}\n`));
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
try {
  for (const { name, path, height, ready } of pages) {
    const page = await browser.newPage({ viewport: { width: 1280, height }, locale: 'en-GB', reducedMotion: 'reduce' });
    await page.goto(`${baseUrl}${path}`);
    await page.locator(ready).first().waitFor();
    await page.evaluate('document.fonts.ready');
    const file = join(imagesDir, `${name}.png`);
    const { size } = await sharp(await page.screenshot({ animations: 'disabled' }))
      .png({ palette: true, compressionLevel: 9 })
      .toFile(file);
    console.log(`${file}, ${Math.ceil(size / 1024)} KB`);
    await page.close();
  }
} finally {
  await browser.close();
}
