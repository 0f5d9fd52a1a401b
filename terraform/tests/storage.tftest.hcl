# Packages, images, and what builds these.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "time" {}

override_resource {
  target          = google_service_account.identity["builder"]
  override_during = plan
  values          = { email = "builder@plinth-test.iam.gserviceaccount.com" }
}

run "storage" {
  command = plan

  assert {
    condition     = google_storage_bucket.packages.public_access_prevention == "enforced" && google_storage_bucket.packages.uniform_bucket_level_access == true
    error_message = "No package is public, and none has rights of its own."
  }
  assert {
    condition     = google_storage_bucket.packages.soft_delete_policy[0].retention_duration_seconds == 7 * 24 * 3600 && google_storage_bucket.packages.force_destroy == false
    error_message = "A package can be had back for a week, and the bucket is not destroyed with what is in it."
  }
  assert {
    condition     = length(google_storage_bucket.packages.lifecycle_rule) == 0
    error_message = "Packages stay unless something else is asked for."
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].environment_variables["PLINTH_PACKAGES_BUCKET"] == "plinth-test-plinth-packages"]) && google_storage_bucket.packages.name == "plinth-test-plinth-packages"
    error_message = "The functions know the bucket of packages."
  }
  assert {
    condition     = google_storage_bucket.uploads.public_access_prevention == "enforced" && google_storage_bucket.uploads.uniform_bucket_level_access == true
    error_message = "No upload is public, and none has rights of its own."
  }
  assert {
    condition     = [for rule in google_storage_bucket.uploads.lifecycle_rule : one(rule.condition).age if one(rule.action).type == "Delete"] == [1] && google_storage_bucket.uploads.soft_delete_policy[0].retention_duration_seconds == 0
    error_message = "An upload goes after a day, for good."
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].environment_variables["PLINTH_UPLOADS_BUCKET"] == "plinth-test-plinth-uploads"]) && google_storage_bucket.uploads.name == "plinth-test-plinth-uploads"
    error_message = "The functions know the bucket of uploads."
  }
  assert {
    condition     = google_artifact_registry_repository.functions.format == "DOCKER" && google_artifact_registry_repository.functions.repository_id == "plinth-functions" && google_artifact_registry_repository.functions.location == "europe-west4"
    error_message = "Images of the functions have a repository in the region."
  }
  assert {
    condition = jsonencode({ for policy in google_artifact_registry_repository.functions.cleanup_policies : policy.id => {
      action = policy.action
      keep   = [for kept in policy.most_recent_versions : kept.keep_count]
      older  = [for condition in policy.condition : condition.older_than]
      } }) == jsonencode({
      delete-old = { action = "DELETE", keep = [], older = ["${30 * 24 * 3600}s"] }
      keep-ten   = { action = "KEEP", keep = [10], older = [] }
    })
    error_message = "Images go after 30 days, but for the last ten."
  }

  # What builds them.
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.build_config[0].service_account == "projects/plinth-test/serviceAccounts/builder@plinth-test.iam.gserviceaccount.com" && f.build_config[0].source[0].storage_source[0].bucket == "plinth-test-releases"])
    error_message = "Functions are built by the builder, of what is in the release bucket."
  }
  assert {
    condition = alltrue([
      for member in [
        google_project_iam_member.builder.member, google_project_iam_member.builder_sources.member,
        google_storage_bucket_iam_member.builder.member, google_artifact_registry_repository_iam_member.builder.member,
      ] : member == "serviceAccount:builder@plinth-test.iam.gserviceaccount.com"
    ])
    error_message = "What the builder may do, it alone may."
  }
  assert {
    condition     = google_project_iam_member.builder.role == "roles/logging.logWriter"
    error_message = "In the whole project the builder writes its log, and no more."
  }
  assert {
    condition     = google_project_iam_member.builder_sources.role == "roles/storage.objectViewer" && [for condition in google_project_iam_member.builder_sources.condition : condition.expression] == ["resource.name.startsWith(\"projects/_/buckets/gcf-v2-sources-123456789012-\")"]
    error_message = "The builder reads the bucket of sources, and no other of the project."
  }
  assert {
    condition     = google_storage_bucket_iam_member.builder.bucket == "plinth-test-releases" && google_storage_bucket_iam_member.builder.role == "roles/storage.objectViewer"
    error_message = "The builder reads releases, and changes none."
  }
  assert {
    condition     = [for condition in google_storage_bucket_iam_member.builder.condition : condition.expression] == ["resource.name.startsWith(\"projects/_/buckets/plinth-test-releases/objects/releases/\")"]
    error_message = "The builder reads nothing else in the bucket of releases, where terraform's state may lie."
  }
  assert {
    condition     = google_artifact_registry_repository_iam_member.builder.repository == "plinth-functions" && google_artifact_registry_repository_iam_member.builder.role == "roles/artifactregistry.writer"
    error_message = "The builder writes the functions' images, and removes none."
  }
}

run "a_trial_deployment" {
  command = plan
  variables {
    deletion_protection   = false
    package_deletion_days = 180
  }

  assert {
    condition     = [for rule in google_storage_bucket.packages.lifecycle_rule : one(rule.condition).age if one(rule.action).type == "Delete"] == [180]
    error_message = "Packages go after as many days."
  }
  assert {
    condition     = google_storage_bucket.packages.force_destroy && google_firestore_database.plinth.delete_protection_state == "DELETE_PROTECTION_DISABLED" && google_firestore_database.plinth.deletion_policy == "DELETE"
    error_message = "All of a trial can be destroyed."
  }
}
