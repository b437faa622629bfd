/** The servers that tests start in a container where an engine answers. */
export type ContainerName = 'kafka' | 'mongodb' | 'registry';

/**
 * Images of deploy/compose, except for the registry, which keeps its schemas in memory for as long as its container
 * runs.
 */
const PUBLISHED: Readonly<Record<ContainerName, string>> = {
  kafka: 'apache/kafka:4.3.1',
  mongodb: 'mongo:8.0.21',
  registry: 'quay.io/apicurio/apicurio-registry-mem:2.6.13.Final',
};

const FORM = 'kafka=IMAGE,mongodb=IMAGE,registry=IMAGE, each of them or some';

const isContainerName = (name: string): name is ContainerName => Object.hasOwn(PUBLISHED, name);

/**
 * The images of this run: what `CARILLON_TEST_IMAGES` names, for machines that cannot pull, else the published ones.
 * Throws where the variable has another form or names another server.
 */
export function imagesOf(told = process.env['CARILLON_TEST_IMAGES'] ?? ''): Readonly<Record<ContainerName, string>> {
  const given: Partial<Record<ContainerName, string>> = {};
  for (const part of told.split(',').map((one) => one.trim())) {
    if (part === '') continue;
    const [name = '', ...image] = part.split('=');
    if (!isContainerName(name) || image.join('=') === '') {
      throw new Error(`CARILLON_TEST_IMAGES has "${part}"; it takes ${FORM}`);
    }
    given[name] = image.join('=');
  }
  return { ...PUBLISHED, ...given };
}
