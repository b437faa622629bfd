export {
  startClusterServices,
  startServicesBeside,
  type ClusterServices,
  type ServicesOnSharedRegistry,
} from './cluster-services.ts';
export { settingsFor, startCluster, type Cluster, type ClusterOptions } from './cluster.ts';
export type { Member, RoleName } from './member.ts';
