/** Renders dashboards with uPlot, Grafana's time series library, in a headless Chromium. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import sharp from 'sharp';
import { chromiumProgram, provideDebianProgram } from '../../libs/product/servers/debian-program.ts';
import type { Progress } from '../../libs/product/servers/tool-cache.ts';
import type { Line, Panel } from './dashboard.ts';

/** Input of `page.html`. */
export interface Picture {
  readonly title: string;
  readonly description: string;
  /** Epoch seconds of all values. */
  readonly times: readonly number[];
  readonly panels: readonly DrawnPanel[];
}

export interface DrawnPanel extends Pick<Panel, 'type' | 'title' | 'gridPos'> {
  readonly description: string;
  readonly unit: string;
  readonly stacked: boolean;
  /** Opacity in percent of the area under a line. */
  readonly fill: number;
  readonly lines: readonly Line[];
  /** Text that is shown if the panel has no lines. */
  readonly noValue: string;
}

const plotStyle = fileURLToPath(import.meta.resolve('uplot/dist/uPlot.min.css'));
const plotScript = fileURLToPath(import.meta.resolve('uplot/dist/uPlot.iife.min.js'));

/** Writes one PNG per picture. @throws Error with the page's error if rendering failed */
export async function drawPictures(pictures: ReadonlyMap<string, Picture>, progress: Progress): Promise<void> {
  const [executablePath = ''] = await provideDebianProgram(chromiumProgram, progress);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  try {
    for (const [file, picture] of pictures) {
      const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
      await page.goto(`file://${join(import.meta.dirname, 'page.html')}`);
      await page.addStyleTag({ path: plotStyle });
      await page.addScriptTag({ path: plotScript });
      await page.evaluate(`draw(${JSON.stringify(picture)})`);
      const drawn = await page.locator('#dashboard').screenshot();
      await sharp(drawn).png({ palette: true, compressionLevel: 9 }).toFile(file);
      await page.close();
    }
  } finally {
    await browser.close();
  }
}
