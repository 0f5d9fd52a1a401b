create table if not exists users (
  name text primary key,
  token_sha256 text not null unique
);
create table if not exists visits (
  name text primary key,
  count integer not null
);
