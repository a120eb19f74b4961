/**
 * Builds nats-server and the object store unless the caller provides them. The bootstrap runs it while npm installs the
 * packages, so its imports must not need any. Failures are reported later by the caller that needs the program.
 */
import { provideGoTool } from './go-tool.ts';
import { natsServerTool, versitygwTool } from './go-tools.ts';

const selected = [
  process.env['NATS_URL'] ? [] : natsServerTool,
  process.env['S3_ENDPOINT'] ? [] : versitygwTool,
].flat();
await Promise.allSettled(selected.map((tool) => provideGoTool(tool, (line) => process.stderr.write(`  ${line}\n`))));
