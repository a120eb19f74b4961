/** The servers of `npm run test:cluster`: three NATS servers derived from the single server of the chart. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { clusterNats, type ServerObject } from '../../lab/cluster/nats-cluster.ts';
import { provideGoTool } from '../../libs/product/servers/go-tool.ts';
import { natsServerTool } from '../../libs/product/servers/go-tools.ts';
import { type KubernetesObject, provideChartTools, provideChartToolsTimeoutMs, render } from './chart.ts';

let natsServer: string;
let objects: KubernetesObject[];
beforeAll(async () => {
  await provideChartTools();
  natsServer = await provideGoTool(natsServerTool, (line) => void process.stderr.write(`${line}\n`));
  const rendered = render({ file: 'evaluation', args: ['--show-only', 'templates/evaluation.yaml'] });
  objects = clusterNats(rendered as unknown as ServerObject[], 'demo-coherence') as KubernetesObject[];
}, provideChartToolsTimeoutMs);

const find = (kind: string, name: string): KubernetesObject | undefined =>
  objects.find((item) => item.kind === kind && item.metadata.name === name);

describe('test cluster of three NATS servers', () => {
  it('is one StatefulSet whose pods resolve each other by name, without changes to PostgreSQL and object store', () => {
    const set = find('StatefulSet', 'demo-coherence-nats');
    expect(set?.spec).toMatchObject({
      replicas: 3,
      serviceName: 'demo-coherence-nats-peers',
      podManagementPolicy: 'Parallel',
    });
    expect(find('Service', 'demo-coherence-nats-peers')?.spec).toMatchObject({
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: find('Service', 'demo-coherence-nats')?.spec?.['selector'],
    });
    expect(find('StatefulSet', 'demo-coherence-postgresql')?.spec).toMatchObject({ replicas: 1 });
    expect(find('StatefulSet', 'demo-coherence-object-store')?.spec).toMatchObject({ replicas: 1 });
  });

  it('has a configuration that nats-server accepts, with a unique name for each server', () => {
    const conf = find('Secret', 'demo-coherence-evaluation')?.stringData?.['nats.conf'] ?? '';
    for (const place of [0, 1, 2])
      expect(conf).toContain(`nats-route://demo-coherence-nats-${place}.demo-coherence-nats-peers:6222`);
    const dir = mkdtempSync(join(tmpdir(), 'coherence-nats-conf-'));
    try {
      const file = join(dir, 'nats.conf');
      writeFileSync(file, conf.replace('store_dir: /data', `store_dir: ${JSON.stringify(dir)}`));
      const check = (env: Record<string, string>) =>
        spawnSync(natsServer, ['-t', '-c', file], { encoding: 'utf8', env });
      expect(check({ POD_NAME: 'demo-coherence-nats-1' })).toMatchObject({ status: 0 });
      expect(check({}).stderr).toContain('POD_NAME');
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
