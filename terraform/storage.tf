# Images of the functions, and the buckets of installer packages and of uploads.

resource "google_artifact_registry_repository" "functions" {
  project       = var.project_id
  location      = var.region
  repository_id = "plinth-functions"
  description   = "Images that Cloud Functions builds of plinth's functions."
  format        = "DOCKER"

  cleanup_policies {
    id     = "keep-ten"
    action = "KEEP"
    most_recent_versions {
      keep_count = 10
    }
  }

  cleanup_policies {
    id     = "delete-old"
    action = "DELETE"
    condition {
      older_than = "2592000s" # 30 days
    }
  }

  depends_on = [time_sleep.apis]
}

resource "google_storage_bucket" "packages" {
  project                     = var.project_id
  name                        = "${var.project_id}-plinth-packages"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = !var.deletion_protection

  # A package that was overwritten or deleted by mistake can be had back.
  soft_delete_policy {
    retention_duration_seconds = 604800
  }

  dynamic "lifecycle_rule" {
    for_each = var.package_deletion_days > 0 ? [var.package_deletion_days] : []
    content {
      action {
        type = "Delete"
      }
      condition {
        age = lifecycle_rule.value
      }
    }
  }

  depends_on = [time_sleep.apis]
}

# Big files on their way to jumpboxes that only IAP reaches. Each is deleted once it is there, or after a day.
resource "google_storage_bucket" "uploads" {
  project                     = var.project_id
  name                        = "${var.project_id}-plinth-uploads"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = true

  # What is deleted is gone: nobody has use for it, and it would be paid for.
  soft_delete_policy {
    retention_duration_seconds = 0
  }

  lifecycle_rule {
    action {
      type = "Delete"
    }
    condition {
      age = 1
    }
  }

  depends_on = [time_sleep.apis]
}

# What builds the functions reads their source and writes their images and its log, and can do nothing else.
resource "google_project_iam_member" "builder" {
  project = var.project_id
  role    = "roles/logging.logWriter"
  member  = local.identities["builder"].member
}

# Releases alone: terraform's state may lie in the same bucket.
resource "google_storage_bucket_iam_member" "builder" {
  bucket = var.release_bucket
  role   = "roles/storage.objectViewer"
  member = local.identities["builder"].member

  condition {
    title      = "releases"
    expression = "resource.name.startsWith(\"projects/_/buckets/${var.release_bucket}/objects/releases/\")"
  }
}

# Cloud Functions copies the source into a bucket that it makes with the first function: so on the project, by that name.
resource "google_project_iam_member" "builder_sources" {
  project = var.project_id
  role    = "roles/storage.objectViewer"
  member  = local.identities["builder"].member

  condition {
    title      = "sources-of-functions"
    expression = "resource.name.startsWith(\"projects/_/buckets/gcf-v2-sources-${data.google_project.plinth.number}-\")"
  }
}

resource "google_artifact_registry_repository_iam_member" "builder" {
  project    = var.project_id
  location   = var.region
  repository = google_artifact_registry_repository.functions.repository_id
  role       = "roles/artifactregistry.writer"
  member     = local.identities["builder"].member
}

# IAM takes two minutes as a rule until a right is known everywhere, and a build that lacks one fails.
resource "time_sleep" "builder" {
  create_duration = "120s"
  triggers = {
    logs    = google_project_iam_member.builder.id
    sources = google_project_iam_member.builder_sources.id
    bucket  = google_storage_bucket_iam_member.builder.id
    images  = google_artifact_registry_repository_iam_member.builder.id
  }
}
