/** The arguments of the tool that gives the client id a quota of bytes per second that each broker sends to it. */
export const readQuota = (broker: string, clientId: string, bytesPerSecond: number): readonly string[] => [
  'kafka.admin.ConfigCommand',
  '--bootstrap-server',
  broker,
  '--alter',
  '--entity-type',
  'clients',
  '--entity-name',
  clientId,
  '--add-config',
  `consumer_byte_rate=${bytesPerSecond}`,
];
