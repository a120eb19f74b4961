/**
 * Takes the screenshots of the pages, the console and the admin CLI in docs/images from a running platform: `node
 * tools/screenshots/main.ts [ADDRESS [NAME …]]`, by default all, from the `npm start` of this folder. Signs in to the
 * console with its demo password. Start the platform with `WEBHOOK_ALLOWED_HOSTS=localhost:3000`, needed for a webhook
 * endpoint, and run `npm run demo` first. The created data is not removed: use a throwaway platform.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import sharp from 'sharp';
import { demoValues } from '#libs/infrastructure/config';
import { makeEndpoint } from './endpoint.ts';
import { createScene } from './scene.ts';
import { chromiumProgram, provideDebianProgram } from '../../libs/product/servers/debian-program.ts';

const imagesDir = join(import.meta.dirname, '..', '..', 'docs', 'images');
const pages = [
  { name: 'home', path: '/', height: 560, ready: 'h1' },
  { name: 'api-docs', path: '/api/docs', height: 800, ready: 'input[placeholder="Token"]' },
  { name: 'v1-docs', path: '/api/v1/docs', height: 800, ready: 'input[placeholder="Token"]' },
] as const;

const desk = { viewport: { width: 1280, height: 800 } };
const phone = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const [, , baseUrl = 'http://localhost:8080', ...names] = process.argv;
const isSelected = ({ name }: { readonly name: string }): boolean => names.length === 0 || names.includes(name);
const [email, password] = ['admin@example.org', process.env['DEMO_PASSWORD'] ?? demoValues.DEMO_PASSWORD];
const scene = await createScene(baseUrl, email, password);
const endpoint = await makeEndpoint(baseUrl, email, password);
/** Console pages; `ready` selects an element that exists once the data is loaded. */
const consolePages = [
  { name: 'console-jobs', path: '/console/jobs?state=dead', ready: 'td', options: desk },
  { name: 'console-jobs-phone', path: '/console/jobs?state=dead', ready: 'td', options: phone },
  { name: 'console-webhooks', path: '/console/webhooks', ready: 'td', options: desk },
  { name: 'console-pipelines', path: '/console/pipelines', ready: 'td', options: desk },
  {
    name: 'console-conversation',
    path: scene.conversation,
    ready: 'video',
    options: { viewport: { width: 1280, height: 1_100 } },
  },
  {
    name: 'console-conversation-dark',
    path: scene.conversation,
    ready: 'video',
    options: { ...desk, colorScheme: 'dark' },
  },
  { name: 'console-keys', path: '/console/keys', ready: 'td', options: desk },
  { name: 'console-endpoint', path: endpoint.path, ready: 'td', options: { viewport: { width: 1280, height: 1_000 } } },
  // While one of these pages is open, the platform receives webhooks, which its plots show.
  { name: 'console', path: '/console', ready: 'canvas', options: desk },
  { name: 'console-dark', path: '/console', ready: 'canvas', options: { ...desk, colorScheme: 'dark' } },
  { name: 'console-phone', path: '/console', ready: 'canvas', options: phone },
] as const;

/** Refresh interval of the pages. */
const refreshMs = 10_000;

/** Commands in the CLI screenshot; `columns` is the width of its terminal. */
const commands = [['conversations', 'list'], ['jobs', 'list', '--limit', '6'], ['doctor']] as const;
const columns = 110;

const terminalStyle = `
  body { margin: 0; background: #16181d; color: #d7dae0; }
  pre { margin: 0; padding: 20px 24px; font: 13px/1.45 'DejaVu Sans Mono', monospace; }
  .sgr1 { font-weight: bold } .sgr2 { opacity: .6 } .sgr31 { color: #ff7b72 } .sgr32 { color: #7ee787 }
  .sgr33 { color: #e3b341 } .sgr36 { color: #76d9e6 }
`;

const [executablePath = ''] = await provideDebianProgram(
  chromiumProgram,
  (line) => void process.stderr.write(`${line}\n`),
);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
try {
  for (const { name, path, height, ready } of pages.filter(isSelected)) {
    const page = await browser.newPage({ viewport: { width: 1280, height }, locale: 'en-GB', reducedMotion: 'reduce' });
    await page.goto(`${baseUrl}${path}`);
    await page.locator(ready).first().waitFor();
    await page.evaluate('document.fonts.ready');
    await keepPicture(page, name);
  }
  for (const { name, path, ready, options } of consolePages.filter(isSelected)) {
    const page = await browser.newPage({ ...options, locale: 'en-GB', reducedMotion: 'reduce' });
    await page.goto(`${baseUrl}${path}`);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator(ready).first().waitFor();
    if (ready === 'video') await showRecording(page);
    // Number of refreshes to wait for, since the plots show only data that was received while the page is open.
    const views = ready === 'canvas' ? 9 : 0;
    for (let view = 0; view < views; view++) {
      await scene.goOn(view);
      await page.waitForTimeout(refreshMs);
    }
    await page.waitForTimeout(1_000);
    await page.evaluate('document.activeElement?.blur(), scrollTo(0, 0)');
    if (name === 'console-jobs-phone') await page.getByRole('table').scrollIntoViewIfNeeded();
    await keepPicture(page, name);
  }
  if (isSelected({ name: 'cli' })) {
    const page = await browser.newPage({ viewport: { width: 960, height: 200 } });
    await page.setContent(`<style>${terminalStyle}</style><pre>${commands.map(showCommand).join('\n')}</pre>`);
    await keepPicture(page, 'cli');
  }
} finally {
  await browser.close();
  await endpoint.end();
}

/** Plays the recording for a while, so that captions and the transcript below are visible. */
async function showRecording(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Show transcript' }).click();
  await page.locator('video').focus();
  await page.keyboard.press('Space');
  await page.evaluate(`document.querySelector('video').textTracks[0].mode = 'showing'`);
  await page.waitForTimeout(1_500);
  await page.evaluate(`document.querySelector('video').currentTime = 14`);
  await page.waitForTimeout(1_500);
  await page.keyboard.press('Space');
}

async function keepPicture(page: Page, name: string): Promise<void> {
  const file = join(imagesDir, `${name}.png`);
  const { size } = await sharp(await page.screenshot({ animations: 'disabled', fullPage: name === 'cli' }))
    .png({ palette: true, compressionLevel: 9 })
    .toFile(file);
  console.log(`${file}, ${Math.ceil(size / 1024)} KB`);
  await page.close();
}

/** Runs a command in a terminal (`script` of util-linux) and returns its output as HTML. */
function showCommand(args: readonly string[]): string {
  const command = `stty cols ${columns}; exec node cli/coherence.mjs ${args.join(' ')}`;
  const { stdout } = spawnSync('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    encoding: 'utf8',
  });
  return `<b>$ coherence ${args.join(' ')}</b>\n${toHtml(stdout)}`;
}

/**
 * Converts the colours of `styleText` to HTML. A colour starts with its number, which becomes a class, and ends with a
 * number that has no class.
 */
function toHtml(text: string): string {
  const escape = String.fromCharCode(27);
  const parts = text.replaceAll('\r', '').split(new RegExp(`${escape}\\[(\\d+)m`));
  const html = parts
    .map((part, index) => (index % 2 === 0 ? escapeHtml(part) : `</span><span class="sgr${part}">`))
    .join('');
  return `<span>${html}</span>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
