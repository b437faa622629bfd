import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings, ROLES } from '@carillon/cli';
import { KUBERNETES_FOLDER, readManifests } from '@carillon/testing';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const manifests = readManifests();
const find = (kind: string, name: string) => manifests.find((one) => one.kind === kind && one.metadata.name === name);

type Probe = { readonly httpGet: { readonly path: string; readonly port: string } };
type Container = {
  readonly image: string;
  readonly args: readonly string[];
  readonly envFrom: readonly unknown[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly securityContext: unknown;
  readonly resources: { readonly limits: unknown };
};
type Pod = {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: unknown;
  readonly automountServiceAccountToken: boolean;
  readonly containers: readonly [Container];
  readonly volumes: readonly unknown[];
};
type Deployment = {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly template: { readonly metadata: { readonly labels: Readonly<Record<string, string>> }; readonly spec: Pod };
};
const deploymentOf = (role: string): Deployment => find('Deployment', role)?.spec as Deployment;
const podOf = (role: string): Pod => deploymentOf(role).template.spec;

const settings = find('ConfigMap', 'carillon-settings')?.data ?? {};
const PORTS = { gateway: 7400, control: 7401, engine: 7402, delivery: 7403 } as const;

describe('The manifests of deploy/kubernetes', () => {
  it('are all in the kustomization', () => {
    const text = readFileSync(join(KUBERNETES_FOLDER, 'kustomization.yaml'), 'utf8');
    const { resources } = parse(text) as { resources: string[] };
    const files = readdirSync(KUBERNETES_FOLDER).filter((file) => file !== 'kustomization.yaml');
    expect(resources.toSorted()).toEqual(files.toSorted());
  });

  it('have one deployment for each role', () => {
    const deployments = manifests.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name);
    expect(deployments.toSorted()).toEqual([...ROLES].toSorted());
  });

  it('contain no secret, and take all secrets from the Secret carillon-keys', () => {
    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    for (const variable of Object.keys(settings)) expect(variable).not.toMatch(/PASSWORD|SECRET|TOKEN|PEPPER|_KEY$/);
    for (const role of ROLES) {
      expect(podOf(role).containers[0].envFrom).toEqual([
        { configMapRef: { name: 'carillon-settings' } },
        { secretRef: { name: 'carillon-keys' } },
      ]);
    }
  });

  it('set only variables that the program reads', () => {
    const settingsOf = (environment: Readonly<Record<string, string>>): unknown => {
      try {
        return readSettings({}, environment);
      } catch (error) {
        return String(error);
      }
    };
    const meant = settingsOf(settings);
    expect(meant).toMatchObject({ cluster: { kafka: { singleBroker: false } }, host: '0.0.0.0' });
    for (const [variable, value] of Object.entries(settings)) {
      expect(settingsOf({ ...settings, [variable]: `${value}?` }), variable).not.toEqual(meant);
    }
  });
});

describe('control on Kubernetes', () => {
  it('has memory for the child process of a comparison, and a disk for its scratch files', () => {
    const { containers, volumes } = podOf('control');
    expect(containers[0].resources.limits).toEqual({ memory: '1280Mi' });
    expect(volumes).toContainEqual({ name: 'tmp', emptyDir: { sizeLimit: '2Gi' } });
  });
});

describe.each(ROLES)('%s on Kubernetes', (role) => {
  const pod = podOf(role);
  const [container] = pod.containers;

  it('runs the command of that name, and is found by its labels', () => {
    expect(container.args).toEqual(['run', role]);
    expect(container.image).toBe(`carillon-${role}`);
    const { selector, template } = deploymentOf(role);
    expect(template.metadata.labels).toMatchObject(selector.matchLabels);
  });

  it('runs without root, on a read-only file system, without cluster credentials', () => {
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('has probes on its own port, and its liveness does not depend on other servers', () => {
    const { readinessProbe, livenessProbe, startupProbe } = container;
    const port = container.ports.find(({ name }) => name === readinessProbe.httpGet.port);
    expect(port?.containerPort).toBe(PORTS[role]);
    expect(readinessProbe.httpGet.path).toBe('/readyz');
    expect(livenessProbe.httpGet).toEqual({ path: '/livez', port: readinessProbe.httpGet.port });
    expect(startupProbe.httpGet).toEqual(livenessProbe.httpGet);
  });

  it('gets more than the 20 s that its shutdown takes', () => {
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(20);
  });

  it('keeps all but one of its pods while machines are emptied', () => {
    const budget = find('PodDisruptionBudget', role)?.spec;
    expect(budget).toEqual({ maxUnavailable: 1, selector: deploymentOf(role).selector });
  });
});

describe('Scaling', () => {
  it.each(['engine', 'delivery'])('of %s follows its backlog, up to the number of partitions', (role) => {
    const spec = find('HorizontalPodAutoscaler', role)?.spec;
    expect(spec).toMatchObject({
      scaleTargetRef: { kind: 'Deployment', name: role },
      minReplicas: 2,
      maxReplicas: 8,
      metrics: [{ type: 'External', external: { metric: { name: 'carillon_consumer_lag_records' } } }],
    });
    // A number of its own would be fought over.
    expect(deploymentOf(role)).not.toHaveProperty('replicas');
  });
});
