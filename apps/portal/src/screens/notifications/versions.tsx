export const NotificationVersions = (): null => null;
