/**
 * Takes the pictures of the pages, the console and the admin CLI in docs/images, of a platform that runs:
 * `node tools/screenshots/main.ts [ADDRESS [NAME …]]`, by default all, of the one that `npm start` names. Its demo password signs in to the console; it
 * was started with `OUTBOUND_ALLOWED_HOSTS=localhost`, since a webhook endpoint is among them.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import sharp from 'sharp';
import { demoValues } from '#libs/config';
import { makeEndpoint } from './endpoint.ts';
import { chromiumProgram, provideDebianProgram } from '../servers/debian-program.ts';

const imagesDir = join(import.meta.dirname, '..', '..', 'docs', 'images');
const pages = [
  { name: 'home', path: '/', height: 560, ready: 'h1' },
  { name: 'api-docs', path: '/api/docs', height: 800, ready: 'input[placeholder="Token"]' },
  { name: 'v1-docs', path: '/api/v1/docs', height: 800, ready: 'input[placeholder="Token"]' },
] as const;

const desk = { viewport: { width: 1280, height: 800 } };
const phone = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const [, , baseUrl = 'http://localhost:8080', ...names] = process.argv;
const isWanted = ({ name }: { readonly name: string }): boolean => names.length === 0 || names.includes(name);
const [email, password] = ['admin@example.org', process.env['DEMO_PASSWORD'] ?? demoValues.DEMO_PASSWORD];
const endpoint = await makeEndpoint(baseUrl, email, password);
/** Of the console; `ready` is what is there when the figures are. */
const consolePages = [
  { name: 'console', path: '/console', ready: 'canvas', options: desk },
  { name: 'console-dark', path: '/console', ready: 'canvas', options: { ...desk, colorScheme: 'dark' } },
  { name: 'console-phone', path: '/console', ready: 'canvas', options: phone },
  { name: 'console-endpoint', path: endpoint.path, ready: 'td', options: { viewport: { width: 1280, height: 1_000 } } },
] as const;

/** What the picture of the CLI shows, in a terminal of this width. */
const commands = [['conversations', 'list'], ['jobs', 'list', '--limit', '6'], ['doctor']] as const;
const columns = 110;

const terminalStyle = `
  body { margin: 0; background: #16181d; color: #d7dae0; }
  pre { margin: 0; padding: 20px 24px; font: 13px/1.45 'DejaVu Sans Mono', monospace; }
  .sgr1 { font-weight: bold } .sgr2 { opacity: .6 } .sgr31 { color: #ff7b72 } .sgr32 { color: #7ee787 }
  .sgr33 { color: #e3b341 } .sgr36 { color: #76d9e6 }
`;

const [executablePath = ''] = await provideDebianProgram(chromiumProgram, (line) => void process.stderr.write(`${line}\n`));
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
try {
  for (const { name, path, height, ready } of pages.filter(isWanted)) {
    const page = await browser.newPage({ viewport: { width: 1280, height }, locale: 'en-GB', reducedMotion: 'reduce' });
    await page.goto(`${baseUrl}${path}`);
    await page.locator(ready).first().waitFor();
    await page.evaluate('document.fonts.ready');
    await keepPicture(page, name);
  }
  for (const { name, path, ready, options } of consolePages.filter(isWanted)) {
    const page = await browser.newPage({ ...options, locale: 'en-GB', reducedMotion: 'reduce' });
    await page.goto(`${baseUrl}${path}`);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator(ready).first().waitFor();
    // The plots show what the page has seen.
    for (let look = 0; look < 4; look++) {
      await page.waitForTimeout(2_500);
      await page.getByRole('button', { name: 'Refresh' }).click();
    }
    await page.waitForTimeout(1_000);
    await keepPicture(page, name);
  }
  if (isWanted({ name: 'cli' })) {
    const page = await browser.newPage({ viewport: { width: 960, height: 200 } });
    await page.setContent(`<style>${terminalStyle}</style><pre>${commands.map(showCommand).join('\n')}</pre>`);
    await keepPicture(page, 'cli');
  }
} finally {
  await browser.close();
  await endpoint.end();
}

async function keepPicture(page: Page, name: string): Promise<void> {
  const file = join(imagesDir, `${name}.png`);
  const { size } = await sharp(await page.screenshot({ animations: 'disabled', fullPage: name === 'cli' }))
    .png({ palette: true, compressionLevel: 9 })
    .toFile(file);
  console.log(`${file}, ${Math.ceil(size / 1024)} KB`);
  await page.close();
}

/** A command and what it writes to a terminal (that of script, of util-linux), as HTML. */
function showCommand(args: readonly string[]): string {
  const command = `stty cols ${columns}; exec node cli/coherence.mjs ${args.join(' ')}`;
  const { stdout } = spawnSync('script', ['--quiet', '--return', '--command', command, '/dev/null'], { encoding: 'utf8' });
  return `<b>$ coherence ${args.join(' ')}</b>\n${toHtml(stdout)}`;
}

/** Colours that `styleText` writes: each is begun by a number of its own, and ended by one that is no class here. */
function toHtml(text: string): string {
  const escape = String.fromCharCode(27);
  const parts = text.replaceAll('\r', '').split(new RegExp(`${escape}\\[(\\d+)m`));
  const html = parts.map((part, index) => (index % 2 === 0 ? escapeHtml(part) : `</span><span class="sgr${part}">`)).join('');
  return `<span>${html}</span>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
