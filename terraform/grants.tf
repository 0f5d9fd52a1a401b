# Each row of roles.json becomes one grant, on the narrowest thing that bears it.

locals {
  grants = flatten([
    for name, rows in local.roles.functions : [
      for row in rows : {
        function = name
        on       = row.on
        role     = contains(keys(local.roles.customRoles), row.role) ? google_project_iam_custom_role.plinth[row.role].name : row.role
        # The role's name as it stands in the file: keys of for_each must be known before anything is made.
        key = "${name} ${row.role}"
      }
    ]
  ])
  members      = { for name in distinct(values(local.account_of)) : name => local.identities[name].member }
  folders      = toset([for parent in var.parents : parent if startswith(parent, "folders/")])
  organization = toset([for parent in var.parents : parent if startswith(parent, "organizations/")])
  # A zone has its role on itself, or on its project where missing ones may be made; never both.
  dns_zones = toset([for zone in var.dns_zones : zone if !contains(var.dns_projects, split("/", zone)[0])])
}

resource "google_project_iam_member" "function" {
  for_each = { for grant in local.grants : grant.key => grant if grant.on == "project" }

  project = var.project_id
  role    = each.value.role
  member  = local.members[each.value.function]
}

# Not one by one, as they come and go: by their name, which for Secret Manager has the project's number. Secrets of the
# deployment have other names, and are granted by themselves.
resource "google_project_iam_member" "bootstrap_secrets" {
  for_each = { for grant in local.grants : grant.key => grant if grant.on == "bootstrapSecrets" }

  project = var.project_id
  role    = each.value.role
  member  = local.members[each.value.function]

  condition {
    title       = "secrets-of-bootstraps"
    description = "No secret of the deployment itself."
    expression  = "resource.name.startsWith(\"projects/${data.google_project.plinth.number}/secrets/${local.bootstrap_id_prefix}\")"
  }
}

resource "google_pubsub_topic_iam_member" "function" {
  for_each = merge([
    for lane in keys(local.topics) : { for grant in local.grants : "${grant.key} ${lane}" => merge(grant, { lane = lane }) if grant.on == "topics" }
  ]...)

  project = var.project_id
  topic   = google_pubsub_topic.lane[each.value.lane].name
  role    = each.value.role
  member  = local.members[each.value.function]
}

resource "google_secret_manager_secret_iam_member" "function" {
  for_each = { for grant in local.grants : grant.key => grant if contains(keys(local.secrets), grant.on) }

  project   = var.project_id
  secret_id = google_secret_manager_secret.deployment[each.value.on].secret_id
  role      = each.value.role
  member    = local.members[each.value.function]
}

resource "google_folder_iam_member" "function" {
  for_each = merge([
    for folder in local.folders : { for grant in local.grants : "${grant.key} ${folder}" => merge(grant, { folder = folder }) if grant.on == "parents" }
  ]...)

  folder = each.value.folder
  role   = each.value.role
  member = local.members[each.value.function]
}

resource "google_organization_iam_member" "function" {
  for_each = merge([
    for organization in local.organization : { for grant in local.grants : "${grant.key} ${organization}" => merge(grant, { organization = organization }) if grant.on == "parents" }
  ]...)

  org_id = trimprefix(each.value.organization, "organizations/")
  role   = each.value.role
  member = local.members[each.value.function]
}

resource "google_billing_account_iam_member" "function" {
  for_each = merge([
    for account in var.billing_accounts : { for grant in local.grants : "${grant.key} ${account}" => merge(grant, { account = account }) if grant.on == "billingAccounts" }
  ]...)

  billing_account_id = each.value.account
  role               = each.value.role
  member             = local.members[each.value.function]
}

resource "google_dns_managed_zone_iam_member" "function" {
  for_each = merge([
    for zone in local.dns_zones : { for grant in local.grants : "${grant.key} ${zone}" => merge(grant, { zone = zone }) if grant.on == "dnsZones" }
  ]...)

  project      = split("/", each.value.zone)[0]
  managed_zone = split("/", each.value.zone)[1]
  role         = each.value.role
  member       = local.members[each.value.function]
}

resource "google_project_iam_member" "dns" {
  for_each = merge([
    for project in var.dns_projects : { for grant in local.grants : "${grant.key} ${project}" => merge(grant, { project = project }) if grant.on == "dnsZones" }
  ]...)

  project = each.value.project
  role    = each.value.role
  member  = local.members[each.value.function]
}

resource "google_storage_bucket_iam_member" "function" {
  for_each = { for grant in local.grants : grant.key => grant if grant.on == "packages" }

  bucket = google_storage_bucket.packages.name
  role   = each.value.role
  member = local.members[each.value.function]
}

resource "google_storage_bucket_iam_member" "uploads" {
  for_each = { for grant in local.grants : grant.key => grant if grant.on == "uploads" }

  bucket = google_storage_bucket.uploads.name
  role   = each.value.role
  member = local.members[each.value.function]
}

# That bucket holds terraform's state and the sources, too. A mirror needs no right.
resource "google_storage_bucket_iam_member" "releases" {
  for_each = { for grant in local.grants : grant.key => grant if grant.on == "releases" && startswith(local.releases_url, "gs://${var.release_bucket}/") }

  bucket = var.release_bucket
  role   = each.value.role
  member = local.members[each.value.function]

  condition {
    title       = "executables-of-releases"
    description = "No source, and no state of terraform."
    expression  = "resource.name.startsWith(\"projects/_/buckets/${var.release_bucket}/objects/${trimprefix(local.releases_url, "gs://${var.release_bucket}/")}/\") && resource.name.endsWith(\"/plinth-linux-amd64\")"
  }
}

resource "google_service_account_iam_member" "function" {
  for_each = { for grant in local.grants : grant.key => grant if grant.on == "itself" }

  service_account_id = local.identities[each.value.function].id
  role               = each.value.role
  member             = local.members[each.value.function]
}

# Not in roles.json, which holds what every deployment needs: only Cloud Trace asks who sends.
resource "google_project_iam_member" "traces" {
  for_each = var.traces ? local.members : {}

  project = var.project_id
  role    = "roles/telemetry.tracesWriter"
  member  = each.value
}
